package orchestrator

import (
	"sync"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
)

// EventKind says what an Event tells, and which of its fields are set.
type EventKind string

const (
	PhaseChanged  EventKind = "phase"        // Phase
	RegionChanged EventKind = "region"       // Region, State; Err, which names the region, if it is StateAway, StateFailed or StateSkipped
	TestStarted   EventKind = "test-started" // Task
	TestEnded     EventKind = "test-ended"   // Task; Err if it failed, or was cut short and may be repeated
	PairEnded     EventKind = "pair-ended"   // Row

	// TeardownStalls: a cloud is not known to be empty (Err names it), and is asked again after Pause.
	TeardownStalls EventKind = "teardown-stalls"
)

// Phase is what a run does as a whole.
type Phase string

const (
	PhaseLaunch   Phase = "launch"   // no test has started
	PhaseMeasure  Phase = "measure"  // machines may still be on their way
	PhaseTeardown Phase = "teardown" // nothing is measured any more
	PhaseDone     Phase = "done"
)

// State is how far a region's machine is.
type State string

const (
	StateLaunching State = "launching" // the cloud makes it
	StateBooting   State = "booting"   // SSH does not answer yet
	StatePushing   State = "pushing"   // the probe is on its way
	StateStarting  State = "starting"  // the agent starts
	StateWaiting   State = "waiting"   // for the firewall to admit its peers
	StateReady     State = "ready"     // it can measure
	StateAway      State = "away"      // it was ready, does not answer any more, and is dialled again
	StateReplacing State = "replacing" // it never answered, or is gone: another one is made
	StateFailed    State = "failed"
	StateSkipped   State = "skipped" // the region is not for us, or its quota is used up
)

// Event is news for a progress display.
type Event struct {
	Kind     EventKind
	Time     time.Time
	Phase    Phase
	Region   string // id
	State    State
	Task     plan.Task
	Row      *results.Row
	Err      error
	Pause    time.Duration
	Bytes    int64    // UDP payload received in a test that has ended
	Progress Progress // after the event, with every event
}

// Progress counts.
type Progress struct {
	Pairs                     int   // all of the run
	Rows, OK, Failed, Skipped int   // Rows is all that there are to be, as far as is known; the others are there
	Round, Rounds             int   // of repetitions, from 1, of at most how many; of the present batch
	Regions, Ready, Lost      int   // Regions is all; Lost ones failed or were skipped
	Batch, Batches            int   // the present one, from 1, of how many; 0 before the first
	Running                   int   // tests
	Bytes                     int64 // payload received: TCP's of pairs that are ok, and UDP's
}

// Done counts the rows that are there.
func (p Progress) Done() int { return p.OK + p.Failed + p.Skipped }

// reporter passes events on, one at a time, and keeps count. The observer must
// return soon: the run waits for it.
type reporter struct {
	mu       sync.Mutex
	observer func(Event)
	progress Progress
}

func (r *reporter) report(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.count(e)
	e.Time, e.Progress = time.Now(), r.progress
	if r.observer != nil {
		r.observer(e)
	}
}

// batch says which batch goes on from here.
func (r *reporter) batch(n, of int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Batch, r.progress.Batches = n, of
}

// round says which repetition begins, from the second one on with more rows to
// come.
func (r *reporter) round(m *measurement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(m.rounds) > 0 {
		r.progress.Rows += len(m.open)
	}
	r.progress.Round, r.progress.Rounds = len(m.rounds)+1, m.run.cfg.Repeat.Most()
}

// expect says that there are to be more rows.
func (r *reporter) expect(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Rows += n
}

func (r *reporter) now() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress
}

func (p *Progress) count(e Event) {
	switch e.Kind {
	case TestStarted:
		p.Running++
	case TestEnded:
		p.Running--
		p.Bytes += e.Bytes
	case RegionChanged:
		switch e.State {
		case StateReady:
			p.Ready++
		case StateAway:
			p.Ready--
		case StateFailed, StateSkipped:
			p.Lost++
		}
	case PairEnded:
		p.countRow(e.Row)
	}
}

func (p *Progress) countRow(row *results.Row) {
	switch row.Status {
	case results.StatusOK:
		p.OK++
		p.Bytes += *row.Bytes
	case results.StatusFailed:
		p.Failed++
	default:
		p.Skipped++
	}
}
