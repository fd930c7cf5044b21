package orchestrator

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/results"
)

// runTogether is a bidirectional sweep of three regions, of which one has a fault.
func runTogether(t *testing.T, f fault) done {
	p := newPlanet(t)
	cfg := p.config(3)
	cfg.Isolation = plan.Together
	p.faults[cfg.Pairs[0].From.ID()] = f
	d := p.run(t.Context(), cfg)
	if d.err != nil || d.Teardown != nil {
		t.Fatalf("Run = %+v, %v", d.Summary, d.err)
	}
	return d
}

func TestRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := runTogether(t, fault{})
		for _, r := range d.rows {
			if !r.HasFlag(results.FlagBidirectional) {
				t.Errorf("not flagged: %+v", r)
			}
		}
		began := 0
		for _, e := range d.events {
			if e.Kind == TestStarted && e.Task.Kind == plan.Throughput {
				began++
			}
		}
		if d.counts() != [3]int{6, 0, 0} || began != 3 {
			t.Errorf("%+v in %d tests, want 6 rows in 3", d.Summary, began)
		}
	})
}

// TestRunTogetherFails: one of two directions says nothing without the other.
func TestRunTogetherFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := runTogether(t, fault{throughput: errors.New("no route")})
		reasons := strings.Join(d.errorsOf(results.StatusFailed), "; ")
		if d.counts() != [3]int{2, 4, 0} || !strings.Contains(reasons, "the other direction, at the same time: throughput: no route") {
			t.Errorf("%+v: %s", d.Summary, reasons)
		}
	})
}

// TestRunTogetherLacksRTT: without a direction's round trip the other is measured
// alone, and its row does not say otherwise.
func TestRunTogetherLacksRTT(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := runTogether(t, fault{rtt: errors.New("no answer")})
		alone := 0
		for _, r := range d.rows {
			if r.Status == results.StatusOK && !r.HasFlag(results.FlagBidirectional) {
				alone++
			}
		}
		if d.counts() != [3]int{4, 2, 0} || alone != 2 {
			t.Errorf("%+v, %d alone, want 2", d.Summary, alone)
		}
	})
}

func TestWithSockets(t *testing.T) {
	r := withSockets(results.Row{}, way{throughput: &wire.ThroughputResult{}})
	if diff := cmp.Diff(results.Row{NoDelay: "false", DSCP: ptr(int64(0))}, r); diff != "" {
		t.Errorf("without wishes (-want +got):\n%s", diff)
	}
	r = withSockets(results.Row{}, way{throughput: &wire.ThroughputResult{
		Asked:   wire.TCPOptions{RateBps: 4e6, ClientPort: 40000},
		Granted: wire.TCPGranted{SendBufferBytes: 1 << 20, ReceiveWindowBytes: 65000, NoDelay: true, DSCP: 46, PacingBps: 5e6},
	}})
	want := results.Row{SendBufferBytes: ptr(int64(1 << 20)), ReceiveWindowBytes: ptr(int64(65000)), NoDelay: "true", DSCP: ptr(int64(46)),
		PacingBps: ptr(5e6), RateBps: ptr(4e6), ClientPort: ptr(int64(40000))}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("with all wishes (-want +got):\n%s", diff)
	}
}
