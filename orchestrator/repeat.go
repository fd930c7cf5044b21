package orchestrator

import (
	"context"
	"errors"

	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// maxTries is how often a test is begun that is cut short each time because a
// machine stops to answer. Some tests may be why it does.
const maxTries = 3

// maxStumbles is how often a machine may go away without a good test between.
const maxStumbles = 3

// pause takes a machine that does not answer out of the schedule until it is
// ready again, and ends its tests. What they brought is not used: they are
// repeated.
func (m *measurement) pause(gone *awayError) {
	id := gone.guest.region
	if m.ready[id] != gone.guest {
		return // known already, or even ready again
	}
	if m.stumbles[id]++; m.stumbles[id] == maxStumbles {
		defer m.lose(id, gone.err)
	}
	delete(m.ready, id)
	m.schedule.Pause(id)
	gone.guest.giveUp(gone.err)
	m.run.cfg.Log.Debug("machine away", "region", id, "error", gone.err)
	m.journal(Record{What: RecordAway, Region: id, Error: line(gone.Error())})
	m.run.reporter.report(Event{Kind: RegionChanged, Region: id, State: StateAway, Err: gone})
	for task, cancel := range m.running {
		if task.From == id || task.To == id {
			cancel(gone)
		}
	}
}

// repeats reports whether a task that has ended was cut short and is worth
// another try.
func (m *measurement) repeats(ctx context.Context, o outcome) bool {
	_, ended := errors.AsType[*awayError](o.failed())
	if ctx.Err() != nil || !ended && len(o.away) == 0 {
		return false
	}
	m.tries[o.task]++
	return m.tries[o.task] < maxTries
}

// again plans what is still open of a task once more.
func (m *measurement) again(task plan.Task) {
	var open []direction
	for _, d := range directionsOf(task) {
		if m.open[d] != nil {
			open = append(open, d)
		}
	}
	if len(open) > 0 {
		task.From, task.To, task.Both = open[0].from, open[0].to, len(open) == 2
		m.schedule.Again(task)
	}
}
