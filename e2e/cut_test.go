package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// TestCutOff cuts the controller off from all machines in the middle of the
// measurements, without a word to either side. Whoever's patience ends first, each
// pair gets its row, and nothing is left.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		faults    string
		patience  string // the controller's; the agents' is a third longer
		agentsEnd bool
		code      int
		says      []string
	}{
		"shorter than anybody waits":       {"cuts: [{after_s: 3, for_s: 10}]", "90s", false, 0, []string{"6 ok", "nothing is left"}},
		"longer than agents wait":          {"cuts: [{after_s: 3, for_s: 14}]", "6s", true, 0, []string{"machine away", "6 ok", "nothing is left"}},
		"longer than the controller waits": {"cuts: [{after_s: 3, for_s: 600}]", "6s", true, 3, []string{"machine away", "no answer to a keepalive", "nothing is left"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of each is waiting
			u := self(t)
			faults := filepath.Join(u.dir, "faults.yaml")
			write(t, faults, test.faults)
			s := u.start(t, "sweep", "--lab", "--lab-faults", faults, "--regions", three, "--stop", "duration", "--duration", "2s",
				"--rtt-probes", "5", "--reconnect-timeout", test.patience, "--boot-timeout", "20s")
			s.waitFor(t, "measuring", time.Minute)
			agents := func() (n int) {
				for _, p := range s.descendants() {
					if strings.Contains(p.command, "antipode-probe") && strings.Contains(p.command, "agent") {
						n++
					}
				}
				return n
			}
			if agents() == 0 {
				t.Error("no agent runs")
			}
			if test.agentsEnd {
				eventually(t, 30*time.Second, "end of the agents", func() bool { return agents() == 0 })
				if said := s.stderr.String(); strings.Contains(said, "tearing down") || len(s.descendants()) < 5 {
					t.Errorf("the agents ended with their machines, not by themselves:\n%s", said)
				}
			}
			s.wait(t, 2*time.Minute).want(t, test.code, test.says...)
			checkCut(t, readRows(t, u.runFolder(t)), test.code == 0)
		})
	}
}

// checkCut: a pair is measured, or has the reason why it is not.
func checkCut(t *testing.T, rows []results.Row, all bool) {
	t.Helper()
	if len(rows) != 6 {
		t.Errorf("%d rows, want 6", len(rows))
	}
	for _, r := range rows {
		measured := r.Status == results.StatusOK
		if measured != (r.GoodputBps != nil) || measured != (r.Error == "") || all && !measured {
			t.Errorf("row %s: %s to %s: goodput %v, error %q", r.Status, r.FromRegion, r.ToRegion, r.GoodputBps, r.Error)
		}
	}
}
