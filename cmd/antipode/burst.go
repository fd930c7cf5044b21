package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/allowance"
	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// shortestBurst is how long credits of a machine last at least when they are full,
// in each direction: 5 to 60 minutes by the Amazon EC2 User Guide, the least of the
// smallest types. How many credits there are is not published.
const shortestBurst = 5 * time.Minute

// burst is how long a machine is expected to send, or receive, above what its
// type gets in the long run.
type burst struct {
	Region      string  `json:"region"`
	Type        string  `json:"machine_type"`
	BaselineBps float64 `json:"baseline_bps"`
	Seconds     float64 `json:"burst_s"` // the busier direction, in one batch
}

// bursts are those of machines whose types have a baseline, the longest first.
func (p planned) bursts(batches [][]plan.Pair) []burst {
	most := map[string]burst{}
	each := p.flags.stop.length().Seconds() * float64(p.flags.repeat.rounds())
	for _, batch := range batches {
		sends, receives := map[string]int{}, map[string]int{}
		for _, pair := range batch {
			sends[pair.From.ID()]++
			receives[pair.To.ID()]++
		}
		for _, r := range plan.RegionsOf(batch) {
			machine := p.flags.machines.first()[r.Cloud]
			a, ok := allowance.Of(r.Cloud, machine)
			seconds := each * float64(max(sends[r.ID()], receives[r.ID()]))
			if ok && a.BurstBps > a.BaselineBps && seconds > most[r.ID()].Seconds {
				most[r.ID()] = burst{r.ID(), machine, a.BaselineBps, seconds}
			}
		}
	}
	var all []burst
	for _, b := range most {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b burst) int {
		if a.Seconds != b.Seconds {
			return int(b.Seconds*1000) - int(a.Seconds*1000)
		}
		return strings.Compare(a.Region, b.Region)
	})
	return all
}

// burstWords warn where later pairs may be measured without credits.
func burstWords(all []burst) string {
	n := 0
	for _, b := range all {
		if b.Seconds > shortestBurst.Seconds() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	b := all[0]
	return fmt.Sprintf("  %s may use up the credits of their burst: %s (%s) is in tests for %v each way, credits last from %v on, and then it has %.0f Mbit/s;\n"+
		"  later pairs would be measured without (flag burst): fewer regions (--batch-size), shorter tests, or other machines (--machine-type)\n",
		plural(n, "machine"), b.Region, b.Type, seconds(b.Seconds), shortestBurst, b.BaselineBps/1e6)
}
