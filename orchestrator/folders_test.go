package orchestrator

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFolders(t *testing.T) {
	out := t.TempDir()
	began := time.Date(2026, 11, 30, 17, 22, 33, 0, time.UTC)
	const begin = `{"time":"2026-11-30T17:22:33Z","what":"run","run_id":"r1","expires":"2026-11-30T18:22:33Z","regions":["aws:a","gcp:b"]}` + "\n" +
		`{"what":"launch","region":"aws:a"}` + "\n" + `{"what":"launch","region":"gcp:b"}` + "\n"
	for name, text := range map[string]string{
		"1-killed":    begin + `{"what":"rea`,
		"2-half-gone": begin + `{"what":"destroyed","cloud":"aws"}` + "\n" + `{"what":"destroyed","cloud":"gcp","error":"no"}` + "\n",
		"3-torn-down": begin + `{"what":"destroyed","cloud":"aws"}` + "\n" + `{"what":"destroyed","cloud":"gcp"}` + "\n",
		"4-empty":     "",
	} {
		if err := os.Mkdir(filepath.Join(out, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, name, "journal.jsonl"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "notes.txt"), []byte("not a folder"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Folders(out)
	if err != nil {
		t.Fatal(err)
	}
	var want []Folder
	for name, tornDown := range map[string]bool{"1-killed": false, "2-half-gone": false, "3-torn-down": true} {
		want = append(want, Folder{RunID: "r1", Dir: filepath.Join(out, name), Began: began, Expires: began.Add(time.Hour), Regions: 2, TornDown: tornDown})
	}
	byDir := map[string]Folder{}
	for _, f := range got {
		byDir[f.Dir] = f
	}
	for _, w := range want {
		if diff := cmp.Diff(w, byDir[w.Dir]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", w.Dir, diff)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d folders, want %d", len(got), len(want))
	}
	if none, err := Folders(filepath.Join(out, "nowhere")); len(none) > 0 || err != nil {
		t.Errorf("no folder: %v, %v", none, err)
	}
}
