package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/prices"
)

// planned is what is going to be measured.
type planned struct {
	all     []antipode.Region // to choose from
	regions []antipode.Region
	pairs   []plan.Pair
	flags   *sweepFlags
	rates   plan.Rates
	barred  map[string]string // regions that can't take part, with the reason
	atOnce  map[string]int    // machines there may be at a time, by cloud and of all, where that is fewer than regions
}

// plan grants the wishes of the flags.
func (f *sweepFlags) plan() (planned, error) {
	regions, err := regionsFrom(f.lab.regionsFile)
	if err != nil {
		return planned{}, err
	}
	if regions, err = f.withHosts(regions); err != nil {
		return planned{}, err
	}
	chosen, pairs, err := f.selection(regions)
	if err != nil {
		return planned{flags: f}, err
	}
	rates, err := f.rates()
	return planned{all: regions, regions: chosen, pairs: pairs, flags: f, rates: rates, atOnce: f.atOnce(len(chosen))}, err
}

// rates are the prices to count with.
func (f *sweepFlags) rates() (plan.Rates, error) {
	rates := plan.Rates{Table: prices.Default(), Tier: f.networkTier}
	if f.pricesFile == "" {
		return rates, nil
	}
	table, err := prices.Load(f.pricesFile)
	if err != nil {
		return rates, &exitError{exitUsage, fmt.Errorf("--prices: %w", err)}
	}
	rates.Table = table
	return rates, nil
}

// preflight says what the clouds would refuse, and notes which regions that
// leaves out and how many machines there may be at a time.
func (p *planned) preflight(ctx context.Context, v *venue, say io.Writer) error {
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
	if err := found.permit(p.measurable()); err != nil {
		return err
	}
	if len(p.barred)+len(found.atOnce()) > 0 {
		fmt.Fprint(say, "the plan, as it is now:\n"+p.forecast().describe(p.flags.labName != ""))
	}
	return p.afford(p.forecast())
}

// batches are the pairs as they are measured, one batch after the other. Beyond
// are those that --max-batches leaves out, alone those that no batch can hold.
func (p planned) batches() (batches [][]plan.Pair, beyond, alone []plan.Pair) {
	batches, alone = plan.Batches(p.open(), p.atOnce)
	batches, beyond = plan.AtMost(batches, p.flags.maxBatches)
	return batches, beyond, alone
}

// limit leaves out what is beyond the last batch.
func (p planned) limit() (pairs []plan.Pair, batches [][]plan.Pair) {
	if p.flags.maxBatches == 0 {
		return p.pairs, nil
	}
	batches, beyond, _ := p.batches()
	out := map[plan.Pair]bool{}
	for _, pair := range beyond {
		out[pair] = true
	}
	return slices.DeleteFunc(slices.Clone(p.pairs), func(pair plan.Pair) bool { return out[pair] }), batches
}

// open are the pairs that are measured, as far as is known: with the wished path
// and without regions that can't take part.
func (p planned) open() []plan.Pair {
	return slices.DeleteFunc(p.measurable(), func(pair plan.Pair) bool {
		_, from := p.barred[pair.From.ID()]
		_, to := p.barred[pair.To.ID()]
		return from || to
	})
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
	once := plan.Estimate(pairs, p.flags.sockets.isolation(), p.flags.rttLength()+overhead, p.flags.stop.length()+p.flags.udp.length()+overhead)
	return once * time.Duration(p.flags.repeat.rounds())
}

// maxTime is how long the run, and so its machines, live at most: enough for
// launching each batch slowly and measuring it twice, unless the user says so.
func (p planned) maxTime() time.Duration {
	if p.flags.maxTime > 0 {
		return p.flags.maxTime
	}
	life := 20 * time.Minute
	batches, _, _ := p.batches()
	for _, pairs := range batches {
		life += 10*time.Minute + 2*p.expectedOf(pairs)
	}
	return life
}
