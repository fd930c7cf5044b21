package results_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/antipode-bench/antipode/results"
)

func TestCreateNeverOverwrites(t *testing.T) {
	path := write(t, measured())
	if _, err := results.Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a file = %v, want it to exist", err)
	}
}

func TestConcurrentWritesAreWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	w, err := results.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for range each {
				r := measured()
				r.FromRegion = fmt.Sprintf("region-%d", i)
				if err := w.Write(r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := results.ReadFile(path)
	if err != nil || len(f.Rows) != writers*each || f.Torn != "" {
		t.Errorf("%d rows, torn %q, %v; want %d whole ones", len(f.Rows), f.Torn, err, writers*each)
	}
}

// Wherever a kill cuts the file, the rows before the cut are read, and the file
// can be gone on with.
func TestEveryCutIsSurvived(t *testing.T) {
	data, err := os.ReadFile(write(t, measured(), failed()))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "results.csv")
	for cut := range data {
		if err := os.WriteFile(path, data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		before, _ := results.ReadFile(path) // a cut header is an error here, and mended below
		w, err := results.OpenAppend(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := errors.Join(w.Write(failed()), w.Close()); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		after, err := results.ReadFile(path)
		if err != nil || after.Torn != "" || len(after.Rows) != len(before.Rows)+1 {
			t.Fatalf("cut at %d: %d rows, then %d, torn %q, %v", cut, len(before.Rows), len(after.Rows), after.Torn, err)
		}
	}
}

func TestOpenAppendRefusesOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.csv")
	const text = "run_id,colour\n1,blue\n2,gre"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := results.OpenAppend(path); err == nil {
		t.Error("a file with other columns was opened")
	}
	if got, _ := os.ReadFile(path); string(got) != text {
		t.Errorf("the file was changed to %q", got)
	}
	if _, err := results.OpenAppend(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file = %v", err)
	}
}

func TestWriteAfterCloseFails(t *testing.T) {
	w, err := results.Create(filepath.Join(t.TempDir(), "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(measured()); err == nil {
		t.Error("a row was written to a closed file")
	}
}
