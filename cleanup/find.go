package cleanup

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// Cloud is one cloud, and where in it to look.
type Cloud struct {
	Provider providers.Provider
	Regions  []string
}

// Run is what one run has in the clouds.
type Run struct {
	ID        string
	Expires   time.Time            // the latest of its resources'; zero: unknown
	Resources []providers.Resource // by cloud, region and kind
}

// Gap is a place that could not be looked into.
type Gap struct {
	Cloud, Region string // Region is empty for the whole cloud
	Err           error
}

// Found is what a look into the clouds found.
type Found struct {
	Runs    []Run // by id, so by age
	Unknown []Gap // where nobody knows what is left
	Closed  []Gap // regions that this account has not enabled or may not use
}

// findLimit ends a look at clouds that answer, but never to the end.
const findLimit = 5 * time.Minute

// Find looks into all clouds at once for one run, or for every run if runID is
// empty. What it could not see is in the answer.
func Find(ctx context.Context, clouds []Cloud, runID string) Found {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	lists := make([][]providers.Resource, len(clouds))
	errs := make([]error, len(clouds))
	var wg sync.WaitGroup
	for i, c := range clouds {
		wg.Go(func() { lists[i], errs[i] = c.Provider.List(ctx, runID, c.Regions) })
	}
	wg.Wait()
	var f Found
	for i, c := range clouds {
		f.sort(c.Provider.Cloud(), errs[i])
	}
	f.Runs = runs(slices.Concat(lists...), runID)
	return f
}

// runs sorts resources by run. An id that no run can have is somebody else's
// use of the same word.
func runs(resources []providers.Resource, runID string) []Run {
	byID := map[string]*Run{}
	for _, r := range resources {
		if providers.CheckRunID(r.RunID) != nil || runID != "" && r.RunID != runID {
			continue
		}
		run := byID[r.RunID]
		if run == nil {
			run = &Run{ID: r.RunID}
			byID[r.RunID] = run
		}
		run.Resources = append(run.Resources, r)
		if r.Expires.After(run.Expires) {
			run.Expires = r.Expires
		}
	}
	var list []Run
	for _, run := range byID {
		slices.SortFunc(run.Resources, order)
		list = append(list, *run)
	}
	slices.SortFunc(list, func(a, b Run) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func order(a, b providers.Resource) int {
	return cmp.Or(cmp.Compare(a.Cloud, b.Cloud), cmp.Compare(a.Region, b.Region),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// sort takes a list's error apart: each place is named once, with the first
// reason, and is either closed to this account or unknown.
func (f *Found) sort(cloud string, err error) {
	for _, leaf := range leaves(err) {
		gap := Gap{Cloud: cloud, Err: leaf}
		closed := false
		if e, ok := errors.AsType[*providers.Error](leaf); ok {
			gap.Region = e.Region
			closed = e.Kind == providers.Skip && e.Region != ""
		}
		to := &f.Unknown
		if closed {
			to = &f.Closed
		}
		if !slices.ContainsFunc(*to, func(g Gap) bool { return g.Cloud == gap.Cloud && g.Region == gap.Region }) {
			*to = append(*to, gap)
		}
	}
}

// leaves are the errors that were joined into err.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, part := range joined.Unwrap() {
		list = append(list, leaves(part)...)
	}
	return list
}

// without leaves out the regions that are closed.
func without(clouds []Cloud, closed []Gap) []Cloud {
	var open []Cloud
	for _, c := range clouds {
		c.Regions = slices.DeleteFunc(slices.Clone(c.Regions), func(region string) bool {
			return slices.ContainsFunc(closed, func(g Gap) bool { return g.Cloud == c.Provider.Cloud() && g.Region == region })
		})
		open = append(open, c)
	}
	return open
}
