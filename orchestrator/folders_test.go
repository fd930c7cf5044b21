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
	const stop = `{"what":"stop","error":"measure: context canceled"}` + "\n"
	for name, text := range map[string]string{
		"5-stopped":   begin + stop + `{"what":"destroyed","cloud":"aws"}` + "\n" + `{"what":"destroyed","cloud":"gcp"}` + "\n",
		"6-resumed":   begin + stop + `{"what":"resume"}` + "\n",
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
	if err := (Manifest{Schema: manifestSchema, Pairs: []string{"aws:a>gcp:b", "gcp:b>aws:a"}}).write(filepath.Join(out, "1-killed")); err != nil {
		t.Fatal(err)
	}
	held, _, err := openJournal(filepath.Join(out, "6-resumed"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.close()
	got, err := Folders(out)
	if err != nil {
		t.Fatal(err)
	}
	var want []Folder
	for name, tornDown := range map[string]bool{"1-killed": false, "2-half-gone": false, "3-torn-down": true, "5-stopped": true, "6-resumed": false} {
		f := Folder{RunID: "r1", Dir: filepath.Join(out, name), Began: began, Expires: began.Add(time.Hour), Regions: 2, TornDown: tornDown}
		switch name {
		case "1-killed":
			f.Pairs = 2
		case "5-stopped":
			f.Stopped = "measure: context canceled"
		case "6-resumed":
			f.Running = true
		}
		want = append(want, f)
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
	if f := byDir[filepath.Join(out, "1-killed")]; !f.Resumable(began) || f.Resumable(began.Add(time.Hour)) {
		t.Error("a killed run can be resumed until it expires")
	}
	if none, err := Folders(filepath.Join(out, "nowhere")); len(none) > 0 || err != nil {
		t.Errorf("no folder: %v, %v", none, err)
	}
}
