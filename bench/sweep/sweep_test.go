package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// TestOver: each limit is held, and figures that are missing pass none.
func TestOver(t *testing.T) {
	good := func() figures {
		return figures{regions: 3, rows: 6, ok: 6, took: time.Minute, makespan: 11, bound: 10, memory: 1e8}
	}
	for name, tt := range map[string]struct {
		change func(*figures)
		want   []string
	}{
		"good":           {func(*figures) {}, nil},
		"a pair failed":  {func(f *figures) { f.ok = 5 }, []string{"5 rows are ok of 6, want 6"}},
		"a row too many": {func(f *figures) { f.rows, f.ok = 7, 7 }, []string{"7 rows are ok of 7, want 6"}},
		"slow":           {func(f *figures) { f.took = time.Hour }, []string{"it took 1h0m0s"}},
		"idle":           {func(f *figures) { f.makespan = 11.6 }, []string{"makespan over bound is 1.160"}},
		"no bound":       {func(f *figures) { f.makespan, f.bound = 0, 0 }, []string{"makespan over bound is NaN"}},
		"large":          {func(f *figures) { f.memory = 6e8 }, []string{"the controller had 600 MB"}},
	} {
		f := good()
		tt.change(&f)
		if got := f.over(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "runs", "r1")
	if err := os.MkdirAll(run, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "run.json"), []byte(`{"reached": {"makespan_s": 12, "bound_s": 10}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := results.Create(filepath.Join(run, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	row := results.Row{RunID: "r1", Timestamp: "2026-12-01T00:00:00Z", Status: results.StatusFailed, Error: "x", FromCloud: "aws", FromRegion: "a", ToCloud: "aws", ToRegion: "b", Flags: results.FlagLabBusy}
	if err := w.Write(row); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := read(dir)
	if err != nil || f.rows != 1 || f.ok != 0 || f.busy != 1 || f.ratio() != 1.2 || f.reasons["failed: x"] != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}
