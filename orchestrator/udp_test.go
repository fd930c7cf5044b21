package orchestrator

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/remote"
	"github.com/antipode-bench/antipode/results"
)

// runUDP is a sweep of three regions with UDP throughput.
func runUDP(t *testing.T, f fault) done {
	p := newPlanet(t)
	cfg := p.config(3)
	p.faults[cfg.Pairs[0].From.ID()] = f
	cfg.Test.UDP = UDPTest{RateBps: 8e6, Duration: 2 * time.Second}
	d := p.run(t.Context(), cfg)
	if d.err != nil || d.Teardown != nil {
		t.Fatalf("Run = %+v, %v", d.Summary, d.err)
	}
	return d
}

func TestRunUDP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := runUDP(t, fault{})
		if d.counts() != [3]int{6, 0, 0} || d.Bytes != 6*(1e9+900_000) {
			t.Fatalf("%+v", d.Summary)
		}
		got := d.rows[0]
		want := got
		want.UDPTargetBps, want.UDPGoodputBps, want.UDPPacketsPerS = ptr(8e6), ptr(7.2e6), ptr(900.)
		want.UDPDatagramBytes, want.UDPLossRatio = ptr(int64(1000)), ptr(.1)
		want.UDPReordered, want.UDPDuplicates, want.UDPJitterMs, want.UDPOffload = ptr(int64(3)), ptr(int64(2)), ptr(.5), "true"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("row (-want +got):\n%s", diff)
		}
	})
}

// TestRunUDPFails keeps what the other tests brought.
func TestRunUDPFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := runUDP(t, fault{udp: &remote.RequestError{Machine: "m", Message: "none arrived"}})
		flagged := 0
		for _, r := range d.rows {
			if r.HasFlag(results.FlagUDPFailed) {
				flagged++
			}
			if r.HasFlag(results.FlagUDPFailed) != (r.UDPGoodputBps == nil) || r.GoodputBps == nil {
				t.Errorf("%+v", r)
			}
		}
		if d.counts() != [3]int{6, 0, 0} || flagged != 2 {
			t.Errorf("%+v, %d flagged, want 2", d.Summary, flagged)
		}
	})
}

// TestRunUDPLosesAgent is no answer of the agent's: nothing of the test counts.
func TestRunUDPLosesAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := runUDP(t, fault{udp: errors.New("the connection is lost")})
		if reasons := strings.Join(d.errorsOf(results.StatusFailed), ""); d.counts() != [3]int{4, 2, 0} || reasons != "udp: the connection is lost" {
			t.Errorf("%+v: %s", d.Summary, reasons)
		}
	})
}

func TestUDPTestCheck(t *testing.T) {
	for name, u := range map[string]UDPTest{
		"slow":    {RateBps: 1, Duration: time.Second},
		"endless": {RateBps: 1e6},
		"no rate": {Duration: time.Second},
	} {
		if u.check() == nil {
			t.Errorf("%s is fine", name)
		}
	}
	if err := (UDPTest{}).check(); err != nil {
		t.Error(err)
	}
}
