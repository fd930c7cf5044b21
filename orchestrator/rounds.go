package orchestrator

import (
	"context"
	"math"
	"slices"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
)

// pairRows are the rows that a run has, by pair.
type pairRows map[direction]*tally

// tally counts a pair's rows.
type tally struct {
	rows     int
	goodputs []float64 // of the good ones, bit/s
	over     bool      // a row says why there will be no more
}

func tallyOf(rows []results.Row) pairRows {
	all := pairRows{}
	for _, r := range rows {
		all.add(r)
	}
	return all
}

func (p pairRows) add(r results.Row) {
	d := direction{r.FromCloud + ":" + r.FromRegion, r.ToCloud + ":" + r.ToRegion}
	t := p[d]
	if t == nil {
		t = &tally{}
		p[d] = t
	}
	t.rows++
	t.over = t.over || r.Status == results.StatusSkipped
	if r.Status == results.StatusOK && r.GoodputBps != nil {
		t.goodputs = append(t.goodputs, *r.GoodputBps)
	}
}

// rows of a pair.
func (p pairRows) rows(d direction) int {
	if t := p[d]; t != nil {
		return t.rows
	}
	return 0
}

// lacking leaves the pairs that are to be measured again, or for the first time.
func (p pairRows) lacking(pairs []plan.Pair, r plan.Repetition) []plan.Pair {
	return slices.DeleteFunc(slices.Clone(pairs), func(pair plan.Pair) bool {
		t := p[directionOf(pair)]
		return t != nil && (t.over || r.Enough(t.rows, t.goodputs))
	})
}

// behind leaves those of pairs that have fewest rows: they are a round's.
func (p pairRows) behind(pairs []plan.Pair) []plan.Pair {
	fewest := math.MaxInt
	for _, pair := range pairs {
		fewest = min(fewest, p.rows(directionOf(pair)))
	}
	return slices.DeleteFunc(slices.Clone(pairs), func(pair plan.Pair) bool { return p.rows(directionOf(pair)) > fewest })
}

// begin makes the pairs those of a round: each is measured once before any is
// measured again, so that repetitions are spread over time.
func (m *measurement) begin(pairs []plan.Pair) {
	m.schedule = plan.NewSchedule(pairs, m.run.cfg.Isolation, m.run.cfg.Test.order())
	for id := range m.ready {
		m.schedule.Ready(id)
	}
	clear(m.tries)
	for _, p := range pairs {
		m.open[directionOf(p)] = &openPair{Pair: p}
	}
}

// nextRound begins another round, if any pair is to be measured again. Pairs of a
// machine that is lost never will be.
func (m *measurement) nextRound(ctx context.Context) bool {
	m.rounds = append(m.rounds, m.timed)
	m.timed = nil
	lacking := m.run.rows.lacking(m.pairs, m.run.cfg.Repeat)
	for _, p := range lacking {
		d := directionOf(p)
		for _, end := range []string{d.from, d.to} {
			if lost := m.lost[end]; lost != nil {
				m.skip(p, lost.Error())
			}
		}
	}
	if ctx.Err() != nil {
		for _, p := range m.run.rows.lacking(lacking, m.run.cfg.Repeat) {
			m.skip(p, stopReason(ctx))
		}
		return false
	}
	lacking = m.run.rows.behind(m.run.rows.lacking(lacking, m.run.cfg.Repeat))
	m.begin(lacking)
	return len(lacking) > 0
}

// skip gives a pair a last row that says why it is not measured as often as it
// was to be.
func (m *measurement) skip(p plan.Pair, reason string) {
	if m.run.rows[directionOf(p)].over {
		return
	}
	m.open[directionOf(p)] = &openPair{Pair: p}
	m.run.reporter.expect(1)
	m.close(directionOf(p), results.StatusSkipped, reason)
}
