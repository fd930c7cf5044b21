package cleanup

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

const (
	// tries are for what did not go at once; the first pause between them doubles.
	tries        = 3
	firstPause   = 5 * time.Second
	longestPause = time.Minute
	// destroysAtOnce bounds how many runs are torn down in one cloud at a time,
	// of how many clouds there are.
	destroysAtOnce = 8
)

// Patience is for clouds that do not answer at the moment.
type Patience struct {
	Limit time.Duration                // no new try after it
	Tell  func(Outcome, time.Duration) // what there is before a pause; may be nil
}

// Outcome is what is left after cleaning. Nothing is, if neither Left nor
// Unknown has an entry.
type Outcome struct {
	Left    []providers.Resource
	Unknown []Gap
	Err     error // what the deletes met; of no interest if nothing is left
}

// Clean reports whether nothing is left, and that is known.
func (o Outcome) Clean() bool { return len(o.Left)+len(o.Unknown) == 0 }

// waits reports whether some place may answer later that does not now.
func (o Outcome) waits() bool {
	return slices.ContainsFunc(o.Unknown, func(g Gap) bool { return providers.Passes(g.Err) })
}

// Clean removes everything of the runs from all clouds at once, looks again, and
// repeats it a few times for what is still there, and with patience for what
// does not answer. Of a run it needs the ID; its
// resources are found again, so what it makes meanwhile goes too. It touches
// nothing of other runs, is safe to call twice, and returns soon when ctx ends.
func Clean(ctx context.Context, clouds []Cloud, closed []Gap, runs []Run, patience Patience) Outcome {
	clouds = without(clouds, closed)
	began, settled := time.Now(), settled(runs, time.Now())
	for try, pause := 1, firstPause; ; try, pause = try+1, min(2*pause, longestPause) {
		err := destroy(ctx, clouds, runs)
		if len(runs) > 0 {
			sleep(ctx, time.Until(settled))
		}
		out := look(ctx, clouds, runs)
		out.Err = err
		stays, waits := try >= tries || len(out.Left) == 0, len(runs) > 0 && out.waits() && time.Since(began)+pause <= patience.Limit
		if stays && !waits {
			return out
		}
		if patience.Tell != nil {
			patience.Tell(out, pause)
		}
		if !sleep(ctx, pause) {
			return out
		}
	}
}

// settled is from when on an empty list can be believed: a run may have been
// launching a machine a moment ago.
func settled(runs []Run, now time.Time) time.Time {
	expired, _ := Expired(runs, now)
	if len(expired) == len(runs) {
		return now // nothing has been launched for a while
	}
	return now.Add(providers.ListLag)
}

// destroy asks every cloud for every run: one that was not seen there may only
// be shown late.
func destroy(ctx context.Context, clouds []Cloud, runs []Run) error {
	errs := make([]error, len(clouds)*len(runs))
	var g errgroup.Group
	g.SetLimit(destroysAtOnce)
	for i, run := range runs {
		for j, c := range clouds {
			g.Go(func() error {
				errs[i*len(clouds)+j] = c.Provider.Destroy(ctx, run.ID, c.Regions)
				return nil
			})
		}
	}
	_ = g.Wait() // the errors are in errs: one must not stop the others
	return errors.Join(errs...)
}

// look lists what is left of the runs.
func look(ctx context.Context, clouds []Cloud, runs []Run) Outcome {
	one := ""
	if len(runs) == 1 {
		one = runs[0].ID
	}
	found := Find(ctx, clouds, one)
	out := Outcome{Unknown: found.Unknown}
	for _, left := range found.Runs {
		if slices.ContainsFunc(runs, func(r Run) bool { return r.ID == left.ID }) {
			out.Left = append(out.Left, left.Resources...)
		}
	}
	return out
}

// sleep is false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
