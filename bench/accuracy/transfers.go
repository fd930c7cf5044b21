//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/antipode-bench/antipode/lab/router/packet"
	"github.com/antipode-bench/antipode/probe/wire"
)

const (
	// wantedError is the adaptive test's: the sweep's default.
	wantedError = 0.05
	// atOnce is the most tests at a time, however slow their paths: each has the
	// processes of a lab of its own, and 24 of them kept two cores from being on time.
	atOnce = 10
	// longEnough is how many round trips a test with a constraint eased takes, and
	// startUp before them, where no loss makes the rate waver.
	longEnough = 50
	startUp    = 3 * time.Second
)

// job is one TCP test that a record lacks.
type job struct {
	record *kept
	name   string
	path   Path // perhaps with a constraint eased
	ask    wire.Throughput
	keep   func(*record, *transfer)
}

// transfers makes all TCP tests that are missing, the fastest first: while they
// are, what runs at a time has expected rates of -budget together. A test that is
// faster runs alone.
func (t tools) transfers(ctx context.Context, o options, records []*kept) error {
	var jobs []job
	for _, k := range records {
		jobs = append(jobs, k.lacks(o)...)
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(b.path.expectedBps(), a.path.expectedBps()) })
	begun := time.Now()
	budget := semaphore.NewWeighted(int64(o.budget))
	running, group := errgroup.WithContext(ctx)
	running.SetLimit(atOnce)
	for i, j := range jobs {
		share := int64(min(j.path.expectedBps(), o.budget))
		if err := budget.Acquire(group, share); err != nil {
			break // an interruption, or a record that can't be written
		}
		fmt.Fprintf(os.Stderr, "%s: TCP test %d of %d: %s %s\n", time.Since(begun).Round(time.Second), i+1, len(jobs), j.path.Name, j.name)
		running.Go(func() error {
			defer budget.Release(share)
			return t.transfer(group, j)
		})
	}
	if err := running.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// lacks are the tests that are missing, or were disturbed: the long one, the
// adaptive one, ten seconds with every sample if they are wanted, and the path
// with its constraints eased.
func (k *kept) lacks(o options) (jobs []job) {
	add := func(name string, old *transfer, p Path, ask wire.Throughput, keep func(*record, *transfer)) {
		if !old.exact() {
			jobs = append(jobs, job{k, name, p, ask, keep})
		}
	}
	shorter, every := ms(min(fullTest, o.duration)), ms(sampleEvery)
	add("long", k.Long, k.Path, wire.Throughput{DurationMs: ms(o.duration), SampleMs: every, FlowCheck: true},
		func(r *record, got *transfer) { r.Long = got })
	add("adaptive", k.Adaptive, k.Path, wire.Throughput{DurationMs: shorter, ErrorRatio: wantedError, SampleMs: every, FlowCheck: true},
		func(r *record, got *transfer) { r.Adaptive = got })
	if o.ten {
		add("ten", k.Ten, k.Path, wire.Throughput{DurationMs: shorter, SampleMs: every},
			func(r *record, got *transfer) { r.Ten = got })
	}
	if o.eased == 0 || k.Path.Set == setBucket {
		return jobs
	}
	for _, e := range k.Path.easings() {
		add(e.cause, k.Eased[e.cause], e.path, wire.Throughput{DurationMs: ms(e.path.easedDuration(o.eased))},
			func(r *record, got *transfer) { r.ease(e.cause, got) })
	}
	return jobs
}

// easedDuration is how long a path with a constraint eased must be watched, at
// most so long: less where nothing makes its rate waver.
func (p Path) easedDuration(most time.Duration) time.Duration {
	if p.LossRatio > 0 && p.Congestion != "bbr" {
		return most
	}
	return min(most, startUp+longEnough*p.rtt())
}

func (r *record) ease(cause string, got *transfer) {
	if r.Eased == nil {
		r.Eased = map[string]*transfer{}
	}
	r.Eased[cause] = got
}

// transfer makes one test in a lab of its own.
func (t tools) transfer(ctx context.Context, j job) error {
	got, err := t.transferIn(ctx, j)
	return j.record.keep(ctx, j.name, err, func(r *record) { j.keep(r, got) })
}

func (t tools) transferIn(ctx context.Context, j job) (*transfer, error) {
	s, err := t.open(ctx, []Path{j.path}, Path.undisturbed, true)
	if err != nil {
		return nil, err
	}
	defer s.close() // what was measured is there
	return s.places[0].transfer(ctx, j.ask)
}

// clientPort is that of the test, and not of what follows it.
const clientPort = 40_000

func (pl *place) transfer(ctx context.Context, ask wire.Throughput) (*transfer, error) {
	nominal := wire.Duration(ask.DurationMs)
	ask.Peer, ask.Streams, ask.CongestionControl = pl.peer(), 1, pl.path.Congestion
	ask.DeadlineMs, ask.BaselineBps = ms(nominal+testSlack), pl.path.BaselineBps
	ask.Options = wire.TCPOptions{RateBps: pl.path.RateBps, ClientPort: clientPort}
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
