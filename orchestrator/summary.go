package orchestrator

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// Summary is what became of a run.
type Summary struct {
	RunID, Dir  string
	Progress           // how many pairs and machines ended how, and the bytes received
	Lost        []Lost // machines that failed or were skipped, by region
	Interrupted bool   // the caller's context ended before every pair had its turn
	Expired     bool   // the run's time did
	OverBudget  bool   // the run's budget had no room for more
	Teardown    error  // why Left is not known, or not nothing; nil means that nothing is left
	Left        []providers.Resource
	Took        map[Phase]time.Duration
	Makespan    time.Duration // from the first test's start to the last one's end, of all batches
	Bound       time.Duration // the least that any order of the same tests could have taken
	Estimate    *Estimate     // of the plan; nil if there was none
	Used        Usage         // in all processes of the run
}

// Lost is a region without a machine, or whose machine failed.
type Lost struct {
	Region    string // id
	Skipped   bool   // rather than failed
	Unreached bool   // neither its machine nor the one that replaced it was ever reached
	Reason    string
}

// Unreached counts the regions that were launched for nothing.
func (s Summary) Unreached() (n int) {
	for _, l := range s.Lost {
		if l.Unreached {
			n++
		}
	}
	return n
}

func (r *run) summary() Summary {
	makespan, bound := r.measuredFor()
	s := Summary{
		RunID: r.cfg.RunID, Dir: r.cfg.Dir,
		Progress: r.reporter.now(),
		Expired:  errors.Is(r.stopped, errExpired),
		Teardown: r.unclean,
		Left:     r.left,
		Took:     r.took,
		Makespan: makespan,
		Bound:    bound,
		Estimate: r.cfg.Estimate,
	}
	if r.manifest.Used != nil {
		s.Used = *r.manifest.Used
	}
	_, s.OverBudget = errors.AsType[*BudgetError](r.stopped)
	s.Interrupted = r.stopped != nil && !s.Expired && !fatal(r.stopped)
	losses := map[string]*lostError{}
	for _, m := range r.measured {
		maps.Copy(losses, m.lost)
	}
	for id, lost := range losses {
		s.Lost = append(s.Lost, Lost{Region: id, Skipped: lost.skips(), Unreached: lost.unreached(), Reason: line(brief(lost.err))})
	}
	slices.SortFunc(s.Lost, func(a, b Lost) int { return strings.Compare(a.Region, b.Region) })
	return s
}
