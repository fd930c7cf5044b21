//go:build linux

package probe

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

const (
	// maxLoaded is how many probes are sent beside a throughput test: a longer
	// one is probed at its beginning.
	maxLoaded = 10_000
	// loadedWait is for an answer under load: the largest buffers hold seconds.
	loadedWait = 3 * time.Second
	// minLoaded answers are needed for the figures to be worth anything.
	minLoaded = 5
)

// Loaded measures throughput, and beside it round trips each
// req.LoadedIntervalMs: those probes count that were sent while the path was
// full. That they fail is no failure of the test; then there are none.
func (c *Client) Loaded(ctx context.Context, req wire.Throughput) (*wire.ThroughputResult, *wire.RTTResult, error) {
	if req.LoadedIntervalMs == 0 {
		r, err := c.Throughput(ctx, req)
		return r, nil, err
	}
	bctx, cancel := context.WithCancel(ctx)
	defer cancel()
	enough := make(chan struct{})
	var beside sync.WaitGroup
	var p *pinger
	beside.Go(func() { p = c.beside(bctx, req, enough) })
	r, err := c.Throughput(ctx, req)
	ended := time.Now()
	close(enough)
	defer time.AfterFunc(loadedWait+silenceLimit, cancel).Stop()
	beside.Wait()
	if r == nil || p == nil {
		return r, nil, err
	}
	from, to := full(r, ended, p.usual())
	return r, p.during(from, to), err
}

// beside probes until enough is closed. It is nil if that failed.
func (c *Client) beside(ctx context.Context, req wire.Throughput, enough <-chan struct{}) *pinger {
	ctx, stop := withDeadline(ctx, req.DeadlineMs)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil) // closes every connection of the test
	p, err := c.pinger(ctx, wire.RTT{
		Peer: req.Peer, Probes: maxLoaded, IntervalMs: req.LoadedIntervalMs, WaitMs: inMs(loadedWait), DeadlineMs: req.DeadlineMs,
	})
	if err != nil {
		return nil
	}
	defer p.socket.close()
	p.enough = enough
	if p.run(ctx, cancel, nil) != nil {
		return nil
	}
	return p
}

// full is when the path was, by this machine's clock, of a test whose final count
// came at ended. The sender had nothing more to send about a round trip before
// that. Slow start, or the first second if that is longer, is left out; of a test
// below two seconds its first half.
func full(r *wire.ThroughputResult, ended time.Time, rtt time.Duration) (from, to time.Time) {
	lead := max(r.SlowStartS, min(1, r.DurationS/2))
	return ended.Add(-seconds(r.DurationS - lead)), ended.Add(-2 * rtt)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// usual is the median round trip, as user space saw it.
func (t *trips) usual() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return median(collect(t.probes[:t.sent], trip.byUser))
}

// during describes the probes that were sent between two times, nil if too few
// of them were answered.
func (p *pinger) during(from, to time.Time) *wire.RTTResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold(p.last)
	sent := p.probes[:p.sent]
	sent = slices.DeleteFunc(slices.Clone(sent), func(t trip) bool {
		at := p.clock.began.Add(t.sent.mono)
		return at.Before(from) || at.After(to)
	})
	r := describeTrips(sent, p.last.sending())
	if len(sent) == 0 || r.Received < minLoaded {
		return nil
	}
	return r
}
