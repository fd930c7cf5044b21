package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
	"github.com/antipode-bench/antipode/results"
)

// measurement steps through the schedule. Only its loop touches it.
type measurement struct {
	run      *run
	pairs    []plan.Pair
	stop     context.CancelCauseFunc // of the whole run
	tester   tester
	schedule *plan.Schedule
	news     <-chan news
	outcomes chan outcome

	open     map[direction]*openPair
	ready    map[string]*guest
	tries    map[plan.Task]int // that were cut short
	stumbles map[string]int    // of a machine that went away, since its last good test, by region id
	lost     map[string]*lostError
	known    map[string]providers.Machine // as far as machines came, by region id
	hellos   map[string]wire.Hello        // of the agents of ready machines, by region id
	settings map[string][]remote.Setting  // of ready machines, by region id
	running  map[plan.Task]context.CancelCauseFunc

	timed       []plan.Timed   // of this round
	rounds      [][]plan.Timed // that are over
	first, last time.Time      // of the tests
}

// openPair is a pair without a row.
type openPair struct {
	plan.Pair
	began time.Time // of its first test
	rtt   *wire.RTTResult
}

func newMeasurement(r *run, pairs []plan.Pair, news <-chan news) *measurement {
	m := &measurement{
		run:      r,
		pairs:    pairs,
		tester:   tester{r.cfg.Test, r.cfg.Limits, r.cfg.Choice, r.cfg.Baseline},
		news:     news,
		outcomes: make(chan outcome),
		open:     map[direction]*openPair{},
		ready:    map[string]*guest{},
		tries:    map[plan.Task]int{},
		stumbles: map[string]int{},
		lost:     map[string]*lostError{},
		known:    map[string]providers.Machine{},
		hellos:   map[string]wire.Hello{},
		settings: map[string][]remote.Setting{},
		running:  map[plan.Task]context.CancelCauseFunc{},
	}
	m.begin(r.rows.behind(pairs))
	return m
}

func directionOf(p plan.Pair) direction { return direction{p.From.ID(), p.To.ID()} }

// measure goes on, round by round, until every pair was measured often enough. If
// ctx ends, every pair that was not has a row that says so.
func (m *measurement) measure(ctx context.Context, stop context.CancelCauseFunc) {
	m.stop = stop
	for again := true; again; again = m.nextRound(ctx) {
		m.run.reporter.round(m)
		m.startAll(ctx)
		m.loop(ctx)
	}
}

// loop measures until every pair of the round has a row, or ctx ends and so do the
// tests that run; then the pairs that are left become rows too. It ends because every
// machine gets ready or lost, and every test answers, within limits.
func (m *measurement) loop(ctx context.Context) {
	for !m.over(ctx) {
		select {
		case n := <-m.news:
			m.hear(ctx, n)
		case o := <-m.outcomes:
			m.finish(ctx, o)
		case <-m.patience(ctx):
		case <-m.dry(ctx):
			m.overdraw()
		}
		m.startAll(ctx)
	}
	for _, p := range m.pairs {
		m.close(directionOf(p), results.StatusSkipped, stopReason(ctx))
	}
}

// over is true when no test runs and none will.
func (m *measurement) over(ctx context.Context) bool {
	return len(m.running) == 0 && (len(m.open) == 0 || ctx.Err() != nil)
}

// patience wakes the loop when ctx ends. After that only outcomes do.
func (m *measurement) patience(ctx context.Context) <-chan struct{} {
	if ctx.Err() != nil {
		return nil
	}
	return ctx.Done()
}

// dry wakes the loop when the machines alone have used up the budget.
func (m *measurement) dry(ctx context.Context) <-chan time.Time {
	at, ends := m.run.budget.lastsUntil(time.Now())
	if !ends || ctx.Err() != nil {
		return nil
	}
	return time.After(time.Until(at))
}

func (m *measurement) overdraw() { m.fail(m.run.budget.error(time.Now())) }

// startAll starts what may start. A test that the budget has no room for waits
// until one that runs has used less than it might have.
func (m *measurement) startAll(ctx context.Context) {
	for ctx.Err() == nil {
		task, ok := m.schedule.Next()
		if !ok {
			return
		}
		if !m.run.budget.admits(task, time.Now()) {
			m.schedule.Done(task)
			m.schedule.Again(task)
			if len(m.running) == 0 {
				m.overdraw()
			}
			return
		}
		m.start(ctx, task)
	}
}

func (m *measurement) start(ctx context.Context, task plan.Task) {
	now := time.Now()
	if m.first.IsZero() {
		m.first = now
		m.run.enter(PhaseMeasure)
	}
	for _, d := range directionsOf(task) {
		if p := m.open[d]; p != nil && p.began.IsZero() {
			p.began = now
		}
	}
	m.run.reporter.report(Event{Kind: TestStarted, Task: task})
	tctx, cancel := context.WithCancelCause(ctx)
	m.running[task] = cancel
	from, to := m.ready[task.From], m.ready[task.To]
	go func() { m.outcomes <- m.tester.run(tctx, task, from, to) }()
}

// finish takes a task's outcome into the journal and, where it ends a pair,
// into a row.
func (m *measurement) finish(ctx context.Context, o outcome) {
	m.running[o.task](nil)
	delete(m.running, o.task)
	m.schedule.Done(o.task)
	m.timed = append(m.timed, plan.Timed{Task: o.task, Took: o.took})
	m.last = o.began.Add(o.took)
	repeat := m.repeats(ctx, o)
	for _, gone := range o.away {
		m.pause(gone)
	}
	if o.failed() == nil {
		m.stumbles[o.task.From], m.stumbles[o.task.To] = 0, 0
	}
	for _, w := range o.ways {
		if !repeat {
			m.take(ctx, w) // the row first: what the journal calls measured has one
		}
		m.record(w, o)
	}
	m.run.budget.over(o.task)
	m.run.reporter.report(Event{Kind: TestEnded, Task: o.task, Err: o.failed(), Bytes: o.datagramBytes()})
	if repeat {
		m.again(o.task)
	}
}

// take moves a pair on by what one direction of a task brought.
func (m *measurement) take(ctx context.Context, w way) {
	p := m.open[w.direction]
	switch {
	case p == nil: // closed when a machine was lost
	case w.err != nil && ctx.Err() != nil: // cut short: loop closes it with the reason
	case w.err != nil:
		m.schedule.Forget(w.from, w.to)
		m.close(w.direction, results.StatusFailed, w.err.Error())
	case w.throughput == nil:
		p.rtt = w.rtt
	default:
		row := withPath(withUDP(withSockets(with(withTuned(m.row(p), m.settings[w.from], m.settings[w.to]), p.rtt, w.throughput), w), w), p.rtt, w.loaded)
		if remarks := m.run.cfg.Remarks; remarks != nil {
			row = flagged(row, remarks(p.Pair))
		}
		if m.write(w.direction, row) == results.StatusOK {
			m.keep(row, w)
		}
	}
}

// hear learns what became of a machine.
func (m *measurement) hear(ctx context.Context, n news) {
	old := m.known[n.id]
	m.known[n.id] = n.made
	switch {
	case m.lost[n.id] != nil: // it stumbled too often
	case n.ready != nil:
		m.ready[n.id] = n.ready
		m.hellos[n.id], m.settings[n.id] = n.ready.agent.Hello(), n.ready.tuned
		if old.Public != n.made.Public {
			m.anew(n.id)
		}
		m.schedule.Ready(n.id)
		m.run.reporter.report(Event{Kind: RegionChanged, Region: n.id, State: StateReady})
	case ctx.Err() != nil: // it was told to end
	case n.away != nil:
		if g := m.ready[n.id]; g != nil {
			m.pause(&awayError{g, n.away})
		}
	case fatal(n.lost):
		m.lose(n.id, n.lost)
		m.fail(n.lost)
	default:
		m.lose(n.id, n.lost)
	}
}

// lose gives a machine up, whose tests ended when it was away: all its pairs
// have a row at once.
func (m *measurement) lose(id string, err error) {
	if m.lost[id] != nil {
		return
	}
	lost := &lostError{id, err}
	m.lost[id] = lost
	state, status := StateFailed, results.StatusFailed
	if lost.skips() {
		state, status = StateSkipped, results.StatusSkipped
	}
	m.run.cfg.Log.Debug("machine lost", "region", id, "error", err)
	m.journal(Record{What: RecordLost, Region: id, Machine: made(m.known[id]), Error: lost.Error()})
	m.run.reporter.report(Event{Kind: RegionChanged, Region: id, State: state, Err: lost})
	m.schedule.Drop(id)
	for _, p := range m.pairs {
		if p.From.ID() == id || p.To.ID() == id {
			m.close(directionOf(p), status, lost.Error())
		}
	}
}

// made is nil for a machine that never was.
func made(m providers.Machine) *providers.Machine {
	if m.ID == "" {
		return nil
	}
	return &m
}

// close gives a pair a row without measurements, unless it has a row.
func (m *measurement) close(d direction, status, reason string) {
	if p := m.open[d]; p != nil {
		m.write(d, without(m.row(p), status, reason))
	}
}

func (m *measurement) row(p *openPair) results.Row {
	began := p.began
	if began.IsZero() {
		began = time.Now()
	}
	from, to := m.end(p.From.ID()), m.end(p.To.ID())
	r := newRow(m.run.cfg, p.Pair, from, to, began)
	r.Repetition = whole(m.run.rows.rows(directionOf(p.Pair)) + 1)
	r.Flags = strings.Join(slices.Concat(m.run.cfg.Flags, machineFlags(from, to), m.run.cfg.isolationFlags()), ";")
	return r
}

// end is what is known of a pair's end: at least the machine type wished for.
func (m *measurement) end(id string) providers.Machine {
	machine := m.known[id]
	if machine.Type == "" {
		machine.Type = m.run.cfg.machineType(id)
	}
	return machine
}

// write puts a row into the file and the display, and returns its status. A row
// that says what can't be becomes one that says so; rows that can't be written
// end the run.
func (m *measurement) write(d direction, row results.Row) string {
	if err := results.Validate(row); err != nil && row.Status == results.StatusOK {
		p := m.open[d]
		row = without(m.row(p), results.StatusFailed, fmt.Sprintf("implausible measurement: %v", err))
	}
	delete(m.open, d)
	if err := m.run.files.rows.Write(row); err != nil {
		m.fail(err)
	}
	m.run.rows.add(row)
	m.run.reporter.report(Event{Kind: PairEnded, Row: &row})
	return row.Status
}

// keep puts the evidence beside a row.
func (m *measurement) keep(row results.Row, w way) {
	if err := m.run.files.samples.Write(row, w.throughput, w.udp); err != nil {
		m.fail(err)
	}
}

func (m *measurement) record(w way, o outcome) {
	// The samples have a file of their own: every resume reads the journal.
	r := Record{What: RecordRTT, From: w.from, To: w.to, TookMs: ms(o.took), RTT: w.rtt, Throughput: w.throughput.WithoutSamples(), Loaded: w.loaded}
	if o.task.Kind == plan.Throughput {
		r.What, r.Assumed = RecordThroughput, m.assumed(w, o)
	}
	r.UDP = w.udp.WithoutSamples()
	if err := cmp.Or(w.err, w.udpErr); err != nil {
		r.Error = line(err.Error())
	}
	m.journal(r)
}

// assumed is what a test sent at most that nobody counted. An end that is away
// may go on for as long as the test may last.
func (m *measurement) assumed(w way, o outcome) int64 {
	if w.err == nil || w.throughput != nil {
		return 0
	}
	took := o.took
	if len(o.away) > 0 {
		took = 0
	}
	bytes, _ := m.run.cfg.mostBytes(o.task.Kind, w.direction, took)
	return int64(bytes)
}

func (m *measurement) journal(r Record) {
	if err := m.run.journal.write(r); err != nil {
		m.fail(err)
	}
}

// fail stops the run; the first reason counts.
func (m *measurement) fail(err error) { m.stop(must(err)) }
