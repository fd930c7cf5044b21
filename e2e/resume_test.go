package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/antipode-bench/antipode/results"
)

// four regions have twelve pairs.
const four = "aws:us-east-1,aws:eu-central-1,gcp:us-west1,gcp:asia-southeast1"

// TestResume kills sweeps in one lab that outlives them, as no program can
// prepare for, and goes on with each: what was measured stays, the rest is
// measured once, and nothing is left.
func TestResume(t *testing.T) {
	t.Parallel()
	u := self(t)
	lab := fmt.Sprintf("e2e-%d", time.Now().UnixNano()%1e9)
	u.run(t, time.Minute, "lab", "up", lab).want(t, 0)
	t.Cleanup(func() { u.run(t, time.Minute, "lab", "down", lab) })
	t.Cleanup(func() { checkEmpty(t, u.run(t, time.Minute, "lab", "inventory", lab)) })
	for _, when := range []struct {
		name  string
		flags []string
		wait  func(t *testing.T, s *started, out string)
	}{
		{"before the first create", nil, func(t *testing.T, _ *started, out string) {
			eventually(t, time.Minute, "run.json", func() bool {
				found, _ := filepath.Glob(filepath.Join(out, "*", "run.json"))
				return len(found) == 1
			})
		}},
		{"while machines boot", nil, func(t *testing.T, s *started, _ string) { s.waitFor(t, "ready", time.Minute) }},
		{"while measuring", nil, func(t *testing.T, s *started, _ string) { s.waitFor(t, "pair 3/12", time.Minute) }},
		{"during teardown", nil, func(t *testing.T, s *started, _ string) { s.waitFor(t, "tearing down", time.Minute) }},
		// SSH is open to an address that is not ours: it must move.
		{"on another network", []string{"--ssh-from", "192.0.2.1"}, func(t *testing.T, _ *started, out string) {
			eventually(t, time.Minute, "four machines", func() bool {
				found, _ := filepath.Glob(filepath.Join(out, "*", "journal.jsonl"))
				return len(found) == 1 && strings.Count(contents(t, found[0]), `"what":"launched"`) == 4
			})
		}},
	} {
		t.Run(when.name, func(t *testing.T) {
			t.Parallel()
			var out string
			again(t, func(try int) (wrong string) {
				out = filepath.Join(u.dir, fmt.Sprint(when.name, try))
				s := u.start(t, append([]string{"sweep", "--lab=" + lab, "--regions", four, "--duration", "500ms", "--rtt-probes", "5",
					"--out", out}, when.flags...)...)
				when.wait(t, s, out)
				kill(t, s.cmd.Process.Pid)
				if o := s.wait(t, killLimit/slack); o.code == 0 {
					return "the sweep was over before it was killed"
				}
				return ""
			})
			runs, err := filepath.Glob(filepath.Join(out, "*"))
			if err != nil || len(runs) != 1 {
				t.Fatalf("runs = %v, %v; want one", runs, err)
			}
			before := rowsSoFar(t, runs[0])
			id := filepath.Base(runs[0])
			o := u.run(t, 2*time.Minute, "resume", id, "--out", out)
			o.want(t, 0, "12 pairs: 12 ok", "nothing is left")
			t.Logf("%d rows before the kill; resumed in %v", len(before), o.took.Round(100*time.Millisecond))
			checkResumed(t, runs[0], before)
			u.run(t, time.Minute, "resume", runs[0]).want(t, 0, "nothing to do", "nothing is left")
		})
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// rowsSoFar are none if the run had not come as far as the file.
func rowsSoFar(t *testing.T, dir string) []results.Row {
	t.Helper()
	file, err := results.ReadFile(filepath.Join(dir, "results.csv"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return file.Rows
}

func checkResumed(t *testing.T, dir string, before []results.Row) {
	t.Helper()
	rows := readRows(t, dir)
	pairs := map[string]bool{}
	for _, r := range rows {
		if r.Status != results.StatusOK {
			t.Errorf("row %+v", r)
		}
		pairs[r.FromRegion+">"+r.ToRegion] = true
	}
	if len(rows) != 12 || len(pairs) != 12 {
		t.Fatalf("%d rows of %d pairs, want 12 of 12", len(rows), len(pairs))
	}
	if diff := cmp.Diff(before, rows[:len(before)], cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows from before the kill changed (-before +after):\n%s", diff)
	}
	if keys, _ := filepath.Glob(filepath.Join(dir, "secrets*")); len(keys) > 0 {
		t.Errorf("the keys are left: %v", keys)
	}
	checkCharts(t, filepath.Join(dir, "charts"))
}

// TestResumeOfLivingRun: a run belongs to one process at a time.
func TestResumeOfLivingRun(t *testing.T) {
	t.Parallel()
	u := self(t)
	s := u.start(t, "sweep", "--lab", "--regions", three, "--duration", "1s", "--rtt-probes", "5")
	s.waitFor(t, "ready", time.Minute)
	signal(t, s.cmd.Process.Pid, syscall.SIGSTOP) // it lives until it is asked for
	u.run(t, time.Minute, "resume", u.runFolder(t)).want(t, 1, "another process")
	signal(t, s.cmd.Process.Pid, syscall.SIGCONT)
	s.wait(t, 2*time.Minute).want(t, 0, "6 pairs: 6 ok", "nothing is left")
	u.run(t, time.Minute, "resume", filepath.Base(u.runFolder(t))).want(t, 0, "nothing to do")
	u.run(t, time.Minute, "resume", "nowhere").want(t, 2, "nowhere", "--out")
}
