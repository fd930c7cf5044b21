package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
)

// rttWait is how long the answers to the last probes may take: more than twice
// round the Earth in fibre.
const rttWait = time.Second

// loadedIntervalMs is between two round trips beside a throughput test: their
// packets take less than 40 kbit/s.
const loadedIntervalMs = 20

// sampleMs is between two samples in samples.csv.
const sampleMs = 100

// outcome is what became of a task.
type outcome struct {
	task  plan.Task
	began time.Time
	took  time.Duration
	ways  []way
	away  []*awayError // ends that are gone, if a way failed
}

// failed are the errors of all ways.
func (o outcome) failed() error {
	var errs []error
	for _, w := range o.ways {
		errs = append(errs, w.err, w.udpErr)
	}
	return errors.Join(errs...)
}

// direction is a pair by its region ids.
type direction struct{ from, to string }

// directionsOf are the pairs that a task measures.
func directionsOf(t plan.Task) []direction {
	ways := []direction{{t.From, t.To}}
	if t.Both {
		ways = append(ways, direction{t.To, t.From})
	}
	return ways
}

// way is one direction's part of an outcome.
type way struct {
	direction
	together   bool // the other direction is measured at the same time
	rtt        *wire.RTTResult
	throughput *wire.ThroughputResult
	udp        *wire.UDPResult // nil unless asked for
	udpErr     error           // why there is none, though the rest is good
	loaded     *wire.RTTResult // beside the throughput; nil if it did not come about
	err        error
}

// tester runs tests, each within a limit.
type tester struct {
	test     Test
	limits   Limits
	choice   Choice
	baseline Baseline
}

// run does all of a task: both directions of a round trip at once, because a
// few small packets don't disturb each other.
func (t tester) run(ctx context.Context, task plan.Task, from, to *guest) outcome {
	o := outcome{task: task, began: time.Now()}
	for _, d := range directionsOf(task) {
		o.ways = append(o.ways, way{direction: d, together: task.Both})
	}
	measure := t.rtt
	if task.Kind == plan.Throughput {
		measure = t.throughput
	}
	ends := map[string]*guest{task.From: from, task.To: to}
	var ways sync.WaitGroup
	for i := range o.ways {
		w := &o.ways[i]
		ways.Go(func() { measure(ctx, w, ends[w.from], ends[w.to]) })
	}
	ways.Wait()
	o.took = time.Since(o.began)
	o.bind()
	if o.failed() != nil {
		o.away = o.missing(ctx, ends)
		// Its peer's agent may have failed first, and have been heard first.
		if gone, is := errors.AsType[*awayError](context.Cause(ctx)); is {
			o.away = append(o.away, gone)
		}
	}
	for i := range o.ways {
		o.ways[i].explain(ends, t.choice)
	}
	return o
}

// bind has a direction's throughput fail with the one that was to be measured at
// the same time: nobody knows for how long it had the machines to itself.
func (o outcome) bind() {
	if o.task.Kind != plan.Throughput || !o.task.Both {
		return
	}
	for i, w := range o.ways {
		if other := &o.ways[1-i]; w.err != nil && other.err == nil {
			other.err = fmt.Errorf("the other direction, at the same time: %w", w.err)
			return
		}
	}
}

// missing are the ends of a failed test that answer no more: then it says
// nothing of the path. A machine's tests fail long before its connection is known
// to be dead.
func (o outcome) missing(ctx context.Context, ends map[string]*guest) (gone []*awayError) {
	silent := map[string]bool{} // missed even the deadline it enforces itself
	for _, w := range o.ways {
		silent[w.from] = silent[w.from] || errors.Is(w.err, errSilent)
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for id, g := range ends {
		asking.Go(func() {
			err := errSilent
			if !silent[id] {
				err = g.alive(ctx)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				gone = append(gone, &awayError{g, err})
			}
		})
	}
	asking.Wait()
	return gone
}

// explain adds what is most likely wrong when a machine whose rules are not
// ours was not reached at all.
func (w *way) explain(ends map[string]*guest, choice Choice) {
	from, to := ends[w.from].made, ends[w.to]
	reached := w.throughput != nil || w.rtt != nil && w.rtt.Received > 0
	_, lost := errors.AsType[*awayError](w.err)
	if w.err == nil || reached || lost || !to.made.Lent || errors.Is(w.err, context.Canceled) {
		return
	}
	w.err = fmt.Errorf("%w; is port %d (TCP and UDP) of %s open to %v?", w.err, to.port, w.to, choice.address(from))
}

func (t tester) rtt(ctx context.Context, w *way, from, to *guest) {
	nominal := time.Duration(t.test.RTTProbes)*t.test.RTTInterval + rttWait
	resp, err := t.ask(ctx, from, nominal, wire.Request{RTT: &wire.RTT{
		Peer:       t.peer(to),
		Probes:     t.test.RTTProbes,
		IntervalMs: ms(t.test.RTTInterval),
		WaitMs:     ms(rttWait),
		DeadlineMs: ms(nominal + t.limits.Slack),
		Path:       true,
	}})
	switch w.rtt = resp.RTT; {
	case err != nil:
		w.err = fmt.Errorf("rtt: %w", err)
	case w.rtt == nil:
		w.err = errors.New("rtt: answer without a result")
	case w.rtt.Received == 0:
		w.err = fmt.Errorf("rtt: no answer to %d probes", w.rtt.Probes)
	}
}

func (t tester) throughput(ctx context.Context, w *way, from, to *guest) {
	nominal := t.test.Duration
	if nominal == 0 {
		nominal = t.limits.Bytes
	}
	resp, err := t.ask(ctx, from, nominal, wire.Request{Throughput: &wire.Throughput{
		Peer:              t.peer(to),
		Bytes:             t.test.Bytes,
		DurationMs:        ms(t.test.Duration),
		ErrorRatio:        t.test.ErrorRatio,
		Streams:           t.test.Streams,
		DeadlineMs:        ms(nominal + t.limits.Slack),
		CongestionControl: t.test.CongestionControl,
		BaselineBps:       t.baseline.of(w.from, w.to, from.made.Type, to.made.Type),
		SampleMs:          sampleMs,
		LoadedIntervalMs:  loadedIntervalMs,
		FlowCheck:         t.test.FlowCheck,
		Options:           t.test.Options,
	}})
	w.loaded = resp.Loaded
	switch w.throughput = resp.Throughput; {
	case err != nil:
		w.err = fmt.Errorf("throughput: %w", err)
	case w.throughput == nil:
		w.err = errors.New("throughput: answer without a result")
	case w.throughput.Bytes == 0:
		w.err = errors.New("throughput: the receiver got nothing")
	case t.test.UDP.RateBps > 0:
		t.udp(ctx, w, from, to)
	}
}

// ask calls an agent, which ends the test itself after nominal and slack. After
// twice the slack it is taken for dead.
func (t tester) ask(ctx context.Context, g *guest, nominal time.Duration, req wire.Request) (wire.Response, error) {
	tctx, cancel := context.WithTimeoutCause(ctx, nominal+2*t.limits.Slack, errSilent)
	defer cancel()
	resp, err := g.agent.Call(tctx, req)
	if err != nil && tctx.Err() != nil {
		err = context.Cause(tctx)
	}
	return resp, err
}

func (t tester) peer(g *guest) wire.Peer {
	return wire.Peer{Addr: t.choice.address(g.made).String(), Port: g.port}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
