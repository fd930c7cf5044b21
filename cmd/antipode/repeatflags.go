package main

import (
	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode/orchestrator/plan"
)

const (
	maxTimes = 1000
	// leastShare is what no figure is steadier than.
	leastShare = 0.001
)

// repeatFlags say how often each pair is measured.
type repeatFlags struct {
	times       int
	untilStable percent
	most        int

	timesGiven, mostGiven bool
}

func (f *repeatFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.times, "repeat", 1, "measure every pair `N` times, in rounds: all pairs once, then all again")
	flags.Var(&f.untilStable, "until-stable", "measure a pair again until the median of its goodput is known within `PERCENT`, such as 5%: its 95 % interval, of 6 rows or more")
	flags.IntVar(&f.most, "max-repeats", 20, "with --until-stable: at most `N` times, 6 or more")
}

func (f *repeatFlags) settle(flags *pflag.FlagSet) {
	f.timesGiven, f.mostGiven = flags.Changed("repeat"), flags.Changed("max-repeats")
}

func (f *repeatFlags) check() error {
	switch {
	case f.times < 1 || f.times > maxTimes:
		return usageError("--repeat %d: not 1 to %d", f.times, maxTimes)
	case f.untilStable != 0 && f.timesGiven:
		return usageError("--repeat %d: a fixed number can't go with --until-stable; say --max-repeats instead", f.times)
	case f.untilStable == 0 && f.mostGiven:
		return usageError("--max-repeats %d: bounds --until-stable, which is not there; say --repeat instead, or both of these", f.most)
	case f.untilStable != 0 && f.untilStable < leastShare:
		return usageError("--until-stable %v: not 0.1%% to 100%%", &f.untilStable)
	case f.untilStable != 0 && (f.most < plan.LeastStable || f.most > maxTimes):
		return usageError("--max-repeats %d: not %d to %d; with fewer rows no median is known", f.most, plan.LeastStable, maxTimes)
	}
	return nil
}

func (f *repeatFlags) repetition() plan.Repetition {
	if f.untilStable != 0 {
		return plan.Repetition{Times: f.most, Stable: float64(f.untilStable)}
	}
	if f.times == 1 {
		return plan.Repetition{}
	}
	return plan.Repetition{Times: f.times}
}

// rounds is how often a plan counts each pair: at most so often.
func (f *repeatFlags) rounds() int { return f.repetition().Most() }
