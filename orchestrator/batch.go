package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/results"
)

// divide cuts the run's pairs into batches, and leaves out those that no batch
// can measure.
func (r *run) divide() {
	var open []plan.Pair
	for _, p := range r.cfg.Pairs {
		_, from := r.cfg.Barred[p.From.ID()]
		_, to := r.cfg.Barred[p.To.ID()]
		if from || to || r.cfg.Choice.Bars(p) != "" {
			r.leftOut = append(r.leftOut, p)
		} else {
			open = append(open, p)
		}
	}
	var alone []plan.Pair
	if r.cfg.Batches == nil {
		r.batches, alone = plan.Batches(open, r.cfg.AtOnce)
	} else {
		r.batches, alone = among(r.cfg.Batches, open)
	}
	r.leftOut = append(r.leftOut, alone...)
}

// among leaves of batches what is among pairs; alone are the pairs of no batch.
func among(batches [][]plan.Pair, pairs []plan.Pair) (kept [][]plan.Pair, alone []plan.Pair) {
	open := map[plan.Pair]bool{}
	for _, p := range pairs {
		open[p] = true
	}
	for _, batch := range batches {
		batch = slices.DeleteFunc(slices.Clone(batch), func(p plan.Pair) bool { return !open[p] })
		for _, p := range batch {
			delete(open, p) // each once
		}
		if len(batch) > 0 {
			kept = append(kept, batch)
		}
	}
	return kept, slices.DeleteFunc(slices.Clone(pairs), func(p plan.Pair) bool { return !open[p] })
}

// machines counts the regions' machines of all batches, and those that never
// will be.
func (r *run) machines() int { return plan.Machines(r.batches) + len(r.barredRegions()) }

// barredRegions are those of the run's regions that can't take part.
func (r *run) barredRegions() []antipode.Region {
	return slices.DeleteFunc(r.cfg.regions(), func(region antipode.Region) bool {
		_, barred := r.cfg.Barred[region.ID()]
		return !barred
	})
}

// measure launches and measures until every pair has a row. When it returns
// nothing is being launched or measured any more. Its error is why it ended
// early.
func (r *run) measure(ctx context.Context) error {
	ctx, cancel := context.WithDeadlineCause(ctx, r.cfg.Expires, errExpired)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if r.barred != nil {
		stop(r.barred)
	}
	r.leaveOut(stop)
	for i, pairs := range r.batches {
		if i > 0 || len(r.cfg.AtOnce) > 0 && !r.history.clean() {
			r.makeRoom(ctx, stop)
		}
		if now := time.Now(); ctx.Err() == nil && !r.budget.admitsMachines(pairs, now) {
			stop(must(r.budget.error(now)))
		}
		r.reporter.batch(i+1, len(r.batches))
		r.measureBatch(ctx, stop, pairs)
	}
	err := context.Cause(ctx)
	if err == nil {
		return nil
	}
	stopped := Record{What: RecordStop, Error: line(err.Error())}
	return errors.Join(fmt.Errorf("measure: %w", err), r.journal.write(stopped))
}

// measureBatch launches a machine in every region of pairs and measures them.
// The machines are left to whoever tears down. If ctx has ended it only gives
// the pairs their rows.
func (r *run) measureBatch(ctx context.Context, stop context.CancelCauseFunc, pairs []plan.Pair) {
	ctx, end := context.WithCancelCause(ctx)
	news := make(chan news)
	r.fleet = newFleet(r.cfg.of(pairs), r.journal, r.reporter, news, r.history)
	m := newMeasurement(r, pairs, news)
	r.measured = append(r.measured, m)
	wait := r.fleet.start(ctx)
	m.measure(ctx, stop)
	end(errOver)
	wait(r.cfg.Limits.Settle)
	r.manifest.know(m.known, m.hellos, m.settings)
}

// of is the configuration of a part of the pairs.
func (c Config) of(pairs []plan.Pair) Config {
	c.Pairs = pairs
	return c
}

// leaveOut gives the pairs that no batch has their rows.
func (r *run) leaveOut(stop context.CancelCauseFunc) {
	m := newMeasurement(r, r.leftOut, nil)
	m.stop = stop
	r.measured = append(r.measured, m)
	for _, p := range r.leftOut {
		if why := r.cfg.Choice.Bars(p); why != "" {
			m.close(directionOf(p), results.StatusSkipped, why)
		}
	}
	for _, region := range r.barredRegions() {
		m.lose(region.ID(), &providers.Error{Op: "preflight", Cloud: region.Cloud, Region: region.Name, Kind: providers.Skip,
			Err: errors.New(r.cfg.Barred[region.ID()])})
	}
	for _, p := range r.leftOut {
		m.close(directionOf(p), results.StatusSkipped, "both machines at once are more than the quota allows ("+quotaWords(r.cfg.AtOnce, p)+")")
	}
}

func quotaWords(atOnce map[string]int, p plan.Pair) string {
	for _, cloud := range []string{p.From.Cloud, p.To.Cloud} {
		if most, ok := atOnce[cloud]; ok {
			return fmt.Sprintf("%d in %s", most, cloud)
		}
	}
	return ""
}

// makeRoom tears down what is there before the next batch is launched. While
// anything may be left of it nothing more is made.
func (r *run) makeRoom(ctx context.Context, stop context.CancelCauseFunc) {
	r.history.tried = maps.Clone(r.fleet.tried) // the last teardown looks there again, whatever happens
	if ctx.Err() != nil {
		return // that teardown is near
	}
	r.enter(PhaseTeardown)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Limits.Teardown)
	defer cancel()
	if _, err := r.clearAll(ctx); err != nil {
		stop(must(fmt.Errorf("make room for the next batch: %w", err)))
		return
	}
	r.history.machines, r.history.gone = map[string]providers.Machine{}, true
	r.enter(PhaseLaunch)
}

// measuredFor is how long tests ran: pauses between batches don't count.
func (r *run) measuredFor() (makespan, bound time.Duration) {
	for _, m := range r.measured {
		makespan += m.last.Sub(m.first)
		for _, timed := range m.rounds {
			bound += plan.Bound(timed, r.cfg.Isolation)
		}
	}
	return makespan, bound
}
