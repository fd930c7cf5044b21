//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/antipode-bench/antipode/lab/router/packet"
	"github.com/antipode-bench/antipode/lab/world"
	"github.com/antipode-bench/antipode/probe/wire"
)

// Of the quiet tests.
const (
	rttInterval = 10 * time.Millisecond
	udpMaxBps   = 50e6
)

// wantedError is the adaptive test's: the sweep's default.
const wantedError = 0.05

// measureAll measures what the results do not have yet: first what needs quiet,
// path by path, then the TCP tests.
func measureAll(ctx context.Context, o options, paths []Path) error {
	t, err := loadTools(o)
	if err != nil {
		return err
	}
	for i, p := range paths {
		fmt.Fprintf(os.Stderr, "\rquiet tests: path %d of %d ", i+1, len(paths))
		if err := t.onRecord(ctx, o, p, t.quiet); err != nil {
			return err
		}
	}
	fmt.Fprint(os.Stderr, "\r\033[K")
	begun := time.Now()
	budget := semaphore.NewWeighted(int64(o.budget))
	var running errgroup.Group
	for i, p := range paths {
		share := int64(min(2*p.capBps(), o.budget)) // a constraint that is eased leaves room for twice as much
		if err := budget.Acquire(ctx, share); err != nil {
			break
		}
		fmt.Fprintf(os.Stderr, "%s %s: path %d of %d\n", time.Since(begun).Round(time.Second), p.Name, i+1, len(paths))
		running.Go(func() error {
			defer budget.Release(share)
			return t.onRecord(ctx, o, p, t.transfers)
		})
	}
	if err := running.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// step measures what a record lacks. save is called when there is more in it.
type step func(ctx context.Context, o options, r *record, save func() error) error

func (t tools) onRecord(ctx context.Context, o options, p Path, do step) error {
	file := filepath.Join(o.results, p.Name+".json")
	r, err := readRecord(file, p)
	if err != nil {
		return err
	}
	return do(ctx, o, r, func() error { return r.write(file) })
}

// attempt runs one test of a record at a fresh place. What fails is noted down,
// for the next run to try again; an interruption is an error.
func (t tools) attempt(ctx context.Context, r *record, name string, p Path, w *world.World, rough bool, test func(*place) error) error {
	pl, err := t.open(ctx, p, w, rough)
	if err == nil {
		err = test(pl)
		if closed := pl.close(); err == nil {
			err = closed
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.note(name, err); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s: %v\n", r.Path.Name, name, err)
	}
	return nil
}

// quiet measures the round trip, and counts datagrams.
func (t tools) quiet(ctx context.Context, o options, r *record, save func() error) error {
	if r.RTT == nil {
		if err := t.attempt(ctx, r, "rtt", r.Path, r.Path.world(world.Quirks{}), false, func(pl *place) error {
			measured, err := pl.rtt(ctx, o.probes)
			if err == nil {
				err = pl.punctual(ctx)
			}
			if err == nil {
				r.RTT = measured
			}
			return err
		}); err != nil {
			return err
		}
		if err := save(); err != nil {
			return err
		}
	}
	if r.UDP != nil {
		return nil
	}
	if err := t.attempt(ctx, r, "udp", r.Path, r.Path.world(r.Path.disturbed()), true, func(pl *place) (err error) {
		r.UDP, err = pl.udp(ctx, min(r.Path.capBps()/2, udpMaxBps), o.udp)
		return err
	}); err != nil {
		return err
	}
	return save()
}

func (pl *place) rtt(ctx context.Context, probes int) (*wire.RTTResult, error) {
	nominal := time.Duration(probes) * rttInterval
	answer, err := pl.ask(ctx, wire.Request{RTT: &wire.RTT{
		Peer: pl.peer(), Probes: probes, IntervalMs: ms(rttInterval), WaitMs: 1000, DeadlineMs: ms(nominal + testSlack),
	}}, nominal)
	return answer.RTT, err
}

func (pl *place) udp(ctx context.Context, bps float64, nominal time.Duration) (*datagrams, error) {
	answer, err := pl.ask(ctx, wire.Request{UDP: &wire.UDP{
		Peer: pl.peer(), RateBps: bps, DurationMs: ms(nominal), DeadlineMs: ms(nominal + testSlack),
	}}, nominal)
	if err != nil {
		return nil, err
	}
	flow, err := pl.carried(ctx, packet.UDP)
	return &datagrams{Result: answer.UDP, Flow: &flow}, err
}

// transfers measures the long test, the adaptive one, the ten seconds that it
// would be without its rule, and the path with its constraints eased.
func (t tools) transfers(ctx context.Context, o options, r *record, save func() error) error {
	long := wire.Throughput{DurationMs: ms(o.duration), SampleMs: ms(sampleEvery)}
	adaptive := wire.Throughput{DurationMs: ms(min(fullTest, o.duration)), ErrorRatio: wantedError, SampleMs: ms(sampleEvery)}
	ten := wire.Throughput{DurationMs: adaptive.DurationMs, SampleMs: ms(sampleEvery)}
	for _, test := range []struct {
		name string
		to   **transfer
		ask  wire.Throughput
	}{{"long", &r.Long, long}, {"adaptive", &r.Adaptive, adaptive}, {"ten", &r.Ten, ten}} {
		if (*test.to).exact() {
			continue
		}
		if err := t.transferOn(ctx, r, test.name, r.Path, test.ask, func(got *transfer) { *test.to = got }, save); err != nil {
			return err
		}
	}
	if o.eased == 0 || r.Path.Set == setBucket {
		return nil
	}
	for _, e := range r.Path.easings() {
		if r.Eased[e.cause].exact() {
			continue
		}
		ask := wire.Throughput{DurationMs: ms(o.eased)}
		if err := t.transferOn(ctx, r, e.cause, e.path, ask, func(got *transfer) { r.ease(e.cause, got) }, save); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) ease(cause string, got *transfer) {
	if r.Eased == nil {
		r.Eased = map[string]*transfer{}
	}
	r.Eased[cause] = got
}

func (t tools) transferOn(ctx context.Context, r *record, name string, p Path, ask wire.Throughput, keep func(*transfer), save func() error) error {
	err := t.attempt(ctx, r, name, p, p.world(world.Quirks{}), true, func(pl *place) error {
		got, err := pl.transfer(ctx, p, ask)
		if err == nil {
			keep(got)
		}
		return err
	})
	if err != nil {
		return err
	}
	return save()
}

func (pl *place) transfer(ctx context.Context, p Path, ask wire.Throughput) (*transfer, error) {
	nominal := wire.Duration(ask.DurationMs)
	ask.Peer, ask.Streams, ask.CongestionControl = pl.peer(), 1, p.Congestion
	ask.DeadlineMs, ask.BaselineBps = ms(nominal+testSlack), p.BaselineBps
	stalls := newWatch()
	answer, err := pl.ask(ctx, wire.Request{Throughput: &ask}, nominal)
	stall := stalls.end()
	if err != nil {
		return nil, err
	}
	flow, err := pl.carried(ctx, packet.TCP)
	if err != nil {
		return nil, err
	}
	late, err := pl.lateRatio(ctx)
	carried := newCurve(flow.Samples).until(seconds(answer.Throughput.DurationS) + sampleEvery)
	return &transfer{Result: answer.Throughput, Carried: carried, LateRatio: late, StallMs: ms(stall)}, err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
