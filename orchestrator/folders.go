package orchestrator

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// Folder is what the files of one run tell about it, whether it is going on,
// over or was killed.
type Folder struct {
	RunID, Dir string
	Began      time.Time
	Expires    time.Time
	Regions    int
	Pairs      int    // all of the run; 0 if it ended before it wrote them down
	Rows, OK   int    // pairs that have all their rows, and those that were measured
	TornDown   bool   // its journal says that nothing is left
	Running    bool   // a process has it
	Stopped    string // why not every pair had its turn; empty if nothing stopped it, or a resume went on
}

// Resumable reports whether a resume would measure something.
func (f Folder) Resumable(now time.Time) bool {
	return !f.Running && f.Rows < f.Pairs && now.Before(f.Expires)
}

// Folders reads the folders of runs under out, sorted by run id. What has no
// journal is none of them. No folder at all is no error.
func Folders(out string) ([]Folder, error) {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var folders []Folder
	var errs []error
	for _, e := range entries {
		f, err := readFolder(filepath.Join(out, e.Name()))
		if err == nil && f.RunID != "" {
			folders = append(folders, f)
		}
		errs = append(errs, err)
	}
	return folders, errors.Join(errs...)
}

func readFolder(dir string) (Folder, error) {
	f := Folder{Dir: dir}
	journal, err := os.Open(filepath.Join(dir, "journal.jsonl"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	defer journal.Close()
	f.Running = errors.Is(lock(journal), errHeld) // else it is ours for this moment
	if err := f.readJournal(journal); err != nil {
		return f, fmt.Errorf("%s: %w", journal.Name(), err)
	}
	manifest, err := readManifest(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("%s: %w", dir, err)
	}
	f.Pairs = len(manifest.Pairs)
	rows, err := results.ReadFile(filepath.Join(dir, "results.csv"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	all := tallyOf(rows.Rows)
	f.Rows = len(all)
	for _, t := range all {
		if !t.over && !manifest.Repeat.Enough(t.rows, t.goodputs) {
			f.Rows--
		}
		if len(t.goodputs) > 0 {
			f.OK++
		}
	}
	return f, nil
}

// readJournal takes no lock: the run may be going on, so the last line may be
// half of one.
func (f *Folder) readJournal(file *os.File) error {
	dirty := map[string]bool{} // clouds in which something may be
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r Record
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		switch r.What {
		case RecordRun:
			f.RunID, f.Began, f.Expires, f.Regions = r.RunID, r.Time, r.Expires, len(r.Regions)
		case RecordResume:
			f.Stopped = ""
		case RecordStop:
			f.Stopped = r.Error
		case RecordLaunch:
			cloud, _, _ := antipode.SplitID(r.Region)
			dirty[cloud] = true
		case RecordDestroyed:
			if r.Error == "" {
				delete(dirty, r.Cloud)
			}
		}
	}
	f.TornDown = len(dirty) == 0
	return lines.Err()
}
