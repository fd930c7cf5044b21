package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
)

// preflight is what all clouds of a sweep have to say to it, sorted by cloud.
type preflight []providers.Preflight

// askClouds asks all at once about the machines that the flags wish for.
func (f *sweepFlags) askClouds(ctx context.Context, clouds map[string]providers.Provider, regions []antipode.Region) preflight {
	names := cloudsOf(regions)
	all := make(preflight, len(names))
	var asked sync.WaitGroup
	for i, cloud := range names {
		w := providers.Wanted{Regions: namesIn(regions, cloud), MachineTypes: f.machines.preferences[cloud],
			Zones: map[string][]string{}, Networks: map[string]string{}, IPv6: f.ip == 6, Spot: f.spot}
		for _, name := range w.Regions {
			w.Zones[name], w.Networks[name] = f.zonesOf[cloud+":"+name], f.networksOf[cloud+":"+name]
		}
		asked.Go(func() { all[i] = providers.Ask(ctx, clouds[cloud], w) })
	}
	asked.Wait()
	return all
}

// barred are the regions that can't take part, with the reason, by region id.
func (p preflight) barred() map[string]string {
	all := map[string]string{}
	for _, cloud := range p {
		for _, r := range cloud.Regions {
			if worst := providers.Worst(slices.Concat(cloud.Findings, r.Findings)); grave(worst) {
				all[cloud.Cloud+":"+r.Region] = worst.Reason
			}
		}
	}
	return all
}

// atOnce is how many machines there may be at a time, by cloud, where that is
// fewer than there are regions to take part.
func (p preflight) atOnce() map[string]int {
	limits, barred := map[string]int{}, p.barred()
	for _, cloud := range p {
		wanted := 0
		for _, r := range cloud.Regions {
			if _, out := barred[cloud.Cloud+":"+r.Region]; !out {
				wanted++
			}
		}
		if tightest, ok := providers.Tightest(cloud.Allowances); ok && tightest.Room() < wanted {
			limits[cloud.Cloud] = tightest.Room()
		}
	}
	return limits
}

// refused are the clouds in which nothing can be made.
func (p preflight) refused() []string {
	var names []string
	for _, cloud := range p {
		if providers.Worst(cloud.Findings).Verdict == providers.VerdictRefuse {
			names = append(names, cloud.Cloud)
		}
	}
	return names
}

// grave findings keep a region from taking part.
func grave(f providers.Finding) bool {
	return f.Verdict == providers.VerdictSkip || f.Verdict == providers.VerdictRefuse
}

// permit is the error of a sweep that can't begin: an account that refuses
// everything was asked for by mistake, or has to be mended first, and a sweep
// without a pair measures nothing.
func (p preflight) permit(pairs []plan.Pair) error {
	if names := p.refused(); len(names) > 0 {
		return refusal("nothing can be made in %s: mend that, or leave it out (--clouds, --regions); antipode doctor checks again", strings.Join(names, " and "))
	}
	barred := p.barred()
	open := slices.DeleteFunc(slices.Clone(pairs), func(pair plan.Pair) bool {
		_, from := barred[pair.From.ID()]
		_, to := barred[pair.To.ID()]
		return from || to
	})
	if batches, _ := plan.Batches(open, p.atOnce()); len(batches) == 0 {
		return refusal("no pair is left of %d that could be measured", len(pairs))
	}
	return nil
}

func refusal(format string, args ...any) error {
	return &exitError{exitRefused, fmt.Errorf(format, args...)}
}

// tell says what is not as it should be, once for all regions it is true of.
func (p preflight) tell(w io.Writer) {
	limits := p.atOnce()
	for _, cloud := range p {
		for _, f := range cloud.Findings {
			fmt.Fprintf(w, "preflight: %s: %s\n", cloud.Cloud, f.Reason)
		}
		if most, limited := limits[cloud.Cloud]; limited {
			tightest, _ := providers.Tightest(cloud.Allowances)
			fmt.Fprintf(w, "preflight: %s: quota %v, room for %s at a time: measured in batches\n", cloud.Cloud, tightest, plural(most, "machine"))
		}
		if providers.Worst(cloud.Findings).Verdict == providers.VerdictRefuse {
			continue // its regions say the same
		}
		regions := map[providers.Finding][]string{}
		var order []providers.Finding
		for _, r := range cloud.Regions {
			for _, f := range r.Findings {
				if regions[f] == nil {
					order = append(order, f)
				}
				regions[f] = append(regions[f], cloud.Cloud+":"+r.Region)
			}
		}
		for _, f := range order {
			skipped := ""
			if f.Verdict == providers.VerdictSkip {
				skipped = " skipped"
			}
			fmt.Fprintf(w, "preflight: %s%s: %s\n", some(regions[f]), skipped, f.Reason)
		}
	}
}

// some names the first few of many.
func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
