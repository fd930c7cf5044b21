package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/antipode-bench/antipode/results"
)

// victim is a sweep that was killed, and what it had written by then.
type victim struct {
	dir     string // of the run; empty if there is none
	age     time.Duration
	phase   string
	journal []record
	rows    []results.Row
	said    string // on stderr
}

// record is what a test needs of a line of the journal.
type record struct {
	Time, Expires                 time.Time
	What, Cloud, Region, From, To string
	Error                         string
}

// kill ends a sweep as no program can prepare for, and looks at what it left.
func (c *chaos) kill(t *testing.T, s *started, out string) victim {
	t.Helper()
	ended := s.cmd.Process.Kill() != nil
	v := victim{age: time.Since(s.began)}
	s.wait(t, killLimit/slack)
	v.said = s.stderr.String()
	if dirs, _ := filepath.Glob(filepath.Join(out, "*")); len(dirs) == 1 {
		v.dir = dirs[0]
		v.journal, v.rows = journalOf(t, v.dir), wholeRows(t, v.dir)
	}
	v.phase = phaseOf(v.journal, ended)
	return v
}

// journalOf reads the whole lines of a run's journal.
func journalOf(t *testing.T, dir string) (all []record) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var r record
		if json.Unmarshal(line, &r) == nil {
			all = append(all, r)
		}
	}
	return all
}

// wholeRows are none while results.csv has no whole header.
func wholeRows(t *testing.T, dir string) []results.Row {
	t.Helper()
	path := filepath.Join(dir, "results.csv")
	if linesOf(path) == 0 {
		return nil
	}
	file, err := results.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file.Rows
}

// phaseOf says how far a sweep of four regions in two clouds had come.
func phaseOf(journal []record, ended bool) string {
	seen := map[string]int{}
	for _, r := range journal {
		seen[r.What]++
	}
	switch {
	case ended:
		return "ended"
	case seen["destroyed"] == 2:
		return "after the last delete"
	case seen["destroy"] > 0:
		return "teardown"
	case seen["ready"] > 1:
		return "measuring"
	case seen["launched"] == 4:
		return "booting"
	case seen["launch"] > 0:
		return "launching"
	}
	return "before the create"
}

// goOn resumes a killed run or cleans up after it, and says what is wrong then.
func (c *chaos) goOn(t *testing.T, v victim, resume bool) (wrong []string) {
	t.Helper()
	if v.dir == "" {
		return nil // no run, so nothing was made: the lab's inventory is looked at later
	}
	id := filepath.Base(v.dir)
	command := []string{"cleanup", "--lab", c.lab, "--run", id}
	if resume = resume && len(v.journal) > 0; resume {
		command = []string{"resume", v.dir}
	}
	o, err := c.user.try(c.patience, command...)
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	wrong = append(wrong, o.lacks(0, "nothing is left")...)
	wrong = append(wrong, lost(t, v)...)
	if resume {
		wrong = append(wrong, unfinished(t, v)...)
	}
	again := c.user.run(t, time.Minute, "cleanup", "--lab", c.lab, "--run", id, "--dry-run")
	wrong = append(wrong, again.lacks(0, "0 resources would be removed")...)
	wrong = append(wrong, c.left(t, id)...)
	if len(wrong) > 0 {
		wrong = append(wrong, fmt.Sprintf("killed after %v, %s; it had said:\n%s\nits journal:\n%+v\nthen:\n%s\n%s",
			v.age, v.phase, v.said, v.journal, o.stdout, o.stderr))
	}
	return wrong
}

// lost names what was measured before the kill and is not in the file any more,
// or not as it was.
func lost(t *testing.T, v victim) (wrong []string) {
	t.Helper()
	rows := wholeRows(t, v.dir)
	if diff := cmp.Diff(v.rows, rows[:min(len(v.rows), len(rows))], cmpopts.EquateEmpty()); diff != "" {
		wrong = append(wrong, "rows from before the kill changed (-before +after):\n"+diff)
	}
	ok := map[string]bool{}
	for _, r := range rows {
		ok[fmt.Sprintf("%s:%s>%s:%s", r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion)] = r.Status == results.StatusOK
	}
	for _, r := range v.journal {
		if r.What == "throughput" && r.Error == "" && !ok[r.From+">"+r.To] {
			wrong = append(wrong, fmt.Sprintf("%s>%s was measured and has no row", r.From, r.To))
		}
	}
	return wrong
}

// standstill is the error of a test of 200 ms in which the computer stood still:
// a true word about the pair, and no fault of the run's.
const standstill = "too few to measure a rate"

// unfinished says what a resume left undone. A run that had made nothing has
// nothing to go on with.
func unfinished(t *testing.T, v victim) (wrong []string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(v.dir, "run.json")); err != nil && v.phase == phases[0] {
		return nil
	}
	pairs := map[string]bool{}
	rows := wholeRows(t, v.dir)
	for _, r := range rows {
		pairs[r.FromRegion+">"+r.ToRegion] = r.Status == results.StatusOK
		if r.Status != results.StatusOK && !strings.HasSuffix(r.Error, standstill) {
			wrong = append(wrong, fmt.Sprintf("%s > %s %s: %s", r.FromRegion, r.ToRegion, r.Status, r.Error))
		}
	}
	if len(rows) != 12 || len(pairs) != 12 {
		wrong = append(wrong, fmt.Sprintf("%d rows of %d pairs after the resume, want 12 of 12", len(rows), len(pairs)))
	}
	if keys, _ := filepath.Glob(filepath.Join(v.dir, "secrets*")); len(keys) > 0 {
		wrong = append(wrong, fmt.Sprintf("the keys are left: %v", keys))
	}
	return wrong
}

// inventory is what the lab itself knows to be in it.
func (c *chaos) inventory(t *testing.T) inventory {
	t.Helper()
	return readInventory(t, c.user.run(t, time.Minute, "lab", "inventory", c.lab))
}

// left lists what is left of a run, or with an empty id of anything.
func (c *chaos) left(t *testing.T, id string) (wrong []string) {
	t.Helper()
	for _, i := range c.inventory(t).left() {
		if i.Tags["antipode-run"] == id || strings.Contains(i.Name, id) {
			wrong = append(wrong, fmt.Sprintf("left behind: %+v", i))
		}
	}
	return wrong
}
