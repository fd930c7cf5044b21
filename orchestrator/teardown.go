package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// A cloud is asked again when it is not known to be empty: its lists may lag
// behind its deletes. One that does not answer is asked for as long as the
// teardown may take: what is left there costs until it expires.
const (
	teardownTries   = 3
	teardownPause   = 5 * time.Second // the first, which doubles
	teardownLongest = time.Minute     // pause
	listLimit       = 2 * time.Minute
)

// tearDown destroys all that may exist, by run and region, not by memory of
// machines, and lists what is left. Callers detach ctx from cancellation. When
// nothing is left, the keys have nothing to open: its error is about deleting them.
func (r *run) tearDown(ctx context.Context) error {
	r.enter(PhaseTeardown)
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Limits.Teardown)
	defer cancel()
	if r.left, r.unclean = r.clearAll(ctx); r.unclean != nil {
		return nil
	}
	return forgetSecrets(r.cfg.Dir)
}

// clearAll empties every cloud of the run. Without an error nothing is left.
func (r *run) clearAll(ctx context.Context) (left []providers.Resource, err error) {
	var mu sync.Mutex
	var clouds sync.WaitGroup
	for _, cloud := range slices.Sorted(maps.Keys(r.cfg.Providers)) {
		clouds.Go(func() {
			there, failed := r.clear(ctx, cloud)
			mu.Lock()
			defer mu.Unlock()
			left = append(left, there...)
			err = errors.Join(err, failed)
		})
	}
	clouds.Wait()
	return left, err
}

// clear empties one cloud of the run. Without an error nothing is left.
func (r *run) clear(ctx context.Context, cloud string) ([]providers.Resource, error) {
	regions := r.fleet.triedIn(cloud)
	if len(regions) == 0 {
		return nil, nil
	}
	r.note(Record{What: RecordDestroy, Cloud: cloud, Regions: regions})
	var left []providers.Resource
	var err error
	for try, pause := 1, teardownPause; ; try, pause = try+1, min(2*pause, teardownLongest) {
		left, err = r.destroy(ctx, cloud, regions)
		if err == nil || try >= teardownTries && !providers.Passes(err) {
			break
		}
		r.reporter.report(Event{Kind: TeardownStalls, Pause: pause, Err: err})
		if !sleep(ctx, pause) {
			break
		}
	}
	end := Record{What: RecordDestroyed, Cloud: cloud, Left: left}
	if err != nil {
		end.Error = line(err.Error())
	}
	r.note(end)
	return left, err
}

// destroy asks a cloud to remove everything, and then what is left: only a
// complete, empty list means that nothing is, whatever Destroy said.
func (r *run) destroy(ctx context.Context, cloud string, regions []string) ([]providers.Resource, error) {
	p := r.cfg.Providers[cloud]
	derr := p.Destroy(ctx, r.cfg.RunID, regions)
	lctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listLimit)
	defer cancel()
	left, lerr := p.List(lctx, r.cfg.RunID, regions)
	lerr = r.blind(cloud, lerr)
	switch {
	case lerr != nil:
		return left, fmt.Errorf("%s: what is left is unknown: %w", cloud, errors.Join(lerr, derr))
	case len(left) > 0:
		return left, errors.Join(fmt.Errorf("%s: %d resources are left", cloud, len(left)), derr)
	case !expected(derr):
		r.cfg.Log.Warn("teardown met errors, but nothing is left", "cloud", cloud, "error", derr)
	}
	return nil, nil
}

// expected is true of a teardown's error that only says what is known by then:
// that regions, one an error, are not for us.
func expected(err error) bool {
	parts := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	}
	return !slices.ContainsFunc(parts, func(part error) bool {
		return part != nil && providers.KindOf(part) != providers.Skip
	})
}

// blind takes out of the errors of a list those that hide nothing of ours: of
// regions that are not for us, and of a cloud that let us make nothing and
// doesn't let us look either.
func (r *run) blind(cloud string, err error) error {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		var rest []error
		for _, part := range e.Unwrap() {
			rest = append(rest, r.blind(cloud, part))
		}
		return errors.Join(rest...)
	case *providers.Error:
		if e.Kind == providers.Skip || e.Kind == providers.Auth && r.fleet.closedTo(cloud) {
			return nil
		}
	}
	return err
}

// note writes to the journal, which must not keep a teardown from going on.
func (r *run) note(rec Record) {
	if err := r.journal.write(rec); err != nil {
		r.cfg.Log.Warn("the journal misses the teardown", "error", err)
	}
}

// sleep is false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
