//go:build linux

package probe

import (
	"fmt"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// TestLoaded has a path with a deep queue, which cubic fills.
func TestLoaded(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{delay: 5 * time.Millisecond, mbps: 20, queue: 400 * time.Millisecond})
	req := wire.Throughput{Peer: p.peer, DurationMs: 4000, Streams: 1, DeadlineMs: deadlineMs, CongestionControl: "cubic", LoadedIntervalMs: 20}
	again(t, func() (wrong string) {
		r := await(t, p.from.ask(wire.Request{Throughput: &req}))
		if r.Error != "" {
			t.Fatal(r.Error)
		}
		got := r.Loaded
		if got == nil || got.P50Ms < 50 || got.Received < 20 || got.Probes > 160 {
			return fmt.Sprintf("the queue does not show: %+v", got)
		}
		return ""
	})
}

// TestLoadedTooShort: a test that is over before there is anything to see is
// none the worse.
func TestLoadedTooShort(t *testing.T) {
	_, peer := startServer(t)
	req := wire.Throughput{Peer: peer, Bytes: 1_000_000, Streams: 2, DeadlineMs: deadlineMs, LoadedIntervalMs: deadlineMs / 2}
	r, loaded, err := NewClient(testSecret).Loaded(t.Context(), req)
	must(t, err)
	if loaded != nil {
		t.Errorf("%+v", *loaded)
	}
	checkResult(t, req, r)
}

func TestFull(t *testing.T) {
	const rtt = 100 * time.Millisecond
	ended := time.Now()
	for name, c := range map[string]struct {
		slowStart, duration float64
		from                time.Duration // before the end
	}{
		"first second":     {.3, 10, 9 * time.Second},
		"slow start":       {2.5, 10, 7500 * time.Millisecond},
		"second half":      {.1, 1, 500 * time.Millisecond},
		"all of it starts": {5, 5, 0},
	} {
		from, to := full(&wire.ThroughputResult{SlowStartS: c.slowStart, DurationS: c.duration}, ended, rtt)
		if ended.Sub(from) != c.from || ended.Sub(to) != 2*rtt {
			t.Errorf("%s: from %v to %v before the end", name, ended.Sub(from), ended.Sub(to))
		}
	}
}
