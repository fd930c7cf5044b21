package main

import (
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// TestBench runs a small part of the bench and holds it to its limits.
func TestBench(t *testing.T) {
	var out strings.Builder
	if over := bench(&out, []int{46}, 1); over > 0 {
		t.Errorf("%d rows are over their limit:\n%s", over, &out)
	}
	if rows := strings.Count(out.String(), "\n"); rows != 1+6+2 {
		t.Errorf("%d lines, want 9:\n%s", rows, &out)
	}
}

// TestQueue holds the simple queue to what was measured of it: 3,895 s for 2,070
// tests of 18 to 21 s between 46 regions.
func TestQueue(t *testing.T) {
	var tests []plan.Task
	for _, task := range plan.Tasks(everyPair(46), plan.Duplex) {
		if task.Kind == plan.Throughput {
			tests = append(tests, task)
		}
	}
	took := kinds()[0].of(tests, 1)
	got := playQueue(tests, 46, func(task plan.Task) time.Duration { return took[task] }).Seconds()
	if got < 3895*.95 || got > 3895*1.05 {
		t.Errorf("the queue takes %.0f s, want about 3,895", got)
	}
}

// TestConflicts: the bench would notice.
func TestConflicts(t *testing.T) {
	for name, tt := range map[string]struct {
		load              load
		duplex, host, all bool
	}{
		"idle":           {load{}, false, false, false},
		"one each way":   {load{0, 1, 1}, false, true, false},
		"two out":        {load{0, 2, 0}, true, true, false},
		"two in":         {load{0, 0, 2}, true, true, false},
		"two round trip": {load{2, 0, 0}, true, true, true},
		"not quiet":      {load{1, 1, 0}, true, true, true},
	} {
		for isolation, want := range map[plan.Isolation]bool{plan.Duplex: tt.duplex, plan.Host: tt.host, plan.None: tt.all} {
			if got := tt.load.conflicts(isolation); got != want {
				t.Errorf("%s, %s: %v, want %v", name, isolation, got, want)
			}
		}
	}
}
