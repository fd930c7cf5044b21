package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// planned is what is going to be measured.
type planned struct {
	regions []antipode.Region
	pairs   []plan.Pair
	flags   *sweepFlags
	barred  map[string]string // regions that can't take part, with the reason
	atOnce  map[string]int    // machines there may be at a time, by cloud and of all, where that is fewer than regions
}

// preflight says what the clouds would refuse, and notes which regions that
// leaves out and how many machines there may be at a time.
func (p *planned) preflight(ctx context.Context, v *venue, say io.Writer) error {
	p.atOnce = p.flags.atOnce(len(p.regions))
	if p.flags.noPreflight {
		return nil
	}
	found := p.flags.askClouds(ctx, v.providers, plan.RegionsOf(p.measurable()))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	found.tell(say)
	p.barred = found.barred()
	maps.Copy(p.atOnce, found.atOnce())
	return found.permit(p.measurable())
}

// measurable are the pairs that have the wished path.
func (p planned) measurable() []plan.Pair {
	choice := p.flags.choice()
	return slices.DeleteFunc(slices.Clone(p.pairs), func(pair plan.Pair) bool { return choice.Bars(pair) != "" })
}

// expected estimates the time from the first test to the last.
func (p planned) expected() time.Duration { return p.expectedOf(p.measurable()) }

func (p planned) expectedOf(pairs []plan.Pair) time.Duration {
	const overhead = time.Second // setting a test up, and its last answers
	return plan.Estimate(pairs, p.flags.sockets.isolation(), p.flags.rttLength()+overhead, p.flags.stop.length()+p.flags.udp.length()+overhead)
}

// maxTime is how long the run, and so its machines, live at most: enough for
// launching each batch slowly and measuring it twice, unless the user says so.
func (p planned) maxTime() time.Duration {
	if p.flags.maxTime > 0 {
		return p.flags.maxTime
	}
	life := 20 * time.Minute
	batches, _ := plan.Batches(p.measurable(), p.atOnce)
	for _, pairs := range batches {
		life += 10*time.Minute + 2*p.expectedOf(pairs)
	}
	return life
}
