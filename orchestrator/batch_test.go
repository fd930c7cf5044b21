package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
)

// small is a planet on which one cloud's quota has room for two machines.
func small(t *testing.T) *planet {
	p := newPlanet(t)
	p.atOnce = map[string]int{"gcp": 2}
	return p
}

// secondBatch is the moment at which the second batch measures.
func secondBatch(e Event) bool { return e.Kind == TestStarted && e.Progress.Batch == 2 }

// TestBatches: every pair of eight regions is measured, four of them in a cloud
// that has room for two, and all of a batch is gone before the next.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := small(t)
		d := p.run(t.Context(), p.config(8))
		if d.err != nil || d.counts() != [3]int{56, 0, 0} || d.Teardown != nil {
			t.Fatalf("%v, %+v", d.err, d.Summary)
		}
		if d.Batches != 6 || d.Batch != 6 || d.Ready != d.Regions || d.Regions != p.count("launch ") {
			t.Errorf("progress %+v after %d launches", d.Progress, p.count("launch "))
		}
		if left := p.alive(); len(left) > 0 {
			t.Errorf("left alive: %v", left)
		}
		if d.Makespan < d.Bound || d.Makespan >= d.lasted {
			t.Errorf("measured in %v of %v; no order could take less than %v", d.Makespan, d.lasted, d.Bound)
		}
	})
}

// TestBatchesInterrupted: what is left gets its rows, and nothing stays.
func TestBatchesInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := small(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cfg := p.config(8)
		time.AfterFunc(time.Minute, cancel)
		d := p.run(ctx, cfg)
		if !d.Interrupted || d.OK == 0 || d.Skipped == 0 || d.Failed > 0 || d.Teardown != nil {
			t.Errorf("%v, %+v", d.err, d.Summary)
		}
		if got := d.errorsOf(results.StatusSkipped); !slices.Equal(got, []string{"interrupted"}) {
			t.Errorf("skipped for %q", got)
		}
		if left := p.alive(); len(left) > 0 {
			t.Errorf("left alive: %v", left)
		}
	})
}

// TestBatchThatStays: while anything may be left of a batch, no other is made.
func TestBatchThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := small(t)
		cfg := p.config(8)
		first := cfg.Pairs[0].To.ID()
		p.faults[first] = fault{destroy: errors.New("no")}
		d := p.run(t.Context(), cfg)
		launched := p.count("launch ")
		if d.err == nil || d.Teardown == nil || len(d.Left) != 1 || d.Batch != 6 || d.OK == 0 || d.Skipped == 0 {
			t.Errorf("%v, %+v", d.err, d.Summary)
		}
		if launched > 6 {
			t.Errorf("%d machines launched; the first batch has at most 6", launched)
		}
		if got := d.errorsOf(results.StatusSkipped); len(got) != 1 || !strings.Contains(got[0], "make room for the next batch") {
			t.Errorf("skipped for %q", got)
		}
	})
}

// TestResumeInBatches: a run that was killed in its second batch goes on, within
// the quota, though what is left now makes other batches.
func TestResumeInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := small(t).killed(8, secondBatch)
		before, there := p.rows(), len(p.alive())
		s, err := p.resume(nil)
		if err != nil || s.Pairs != 56 || s.OK != 56 || s.Teardown != nil {
			t.Fatalf("Resume = %+v, %v; want 56 pairs ok", s, err)
		}
		if len(before) == 0 || len(before) == 56 || there == 0 {
			t.Errorf("killed after %d rows with %d machines: nothing was tested", len(before), there)
		}
		if diff := cmp.Diff(before, p.rows()[:len(before)]); diff != "" {
			t.Errorf("rows from before the kill changed (-before +after):\n%s", diff)
		}
		if left := p.alive(); len(left) > 0 {
			t.Errorf("left alive: %v", left)
		}
		p.checkOver()
	})
}

// TestPairsThatNoBatchHolds have a row with the reason; the others are measured.
func TestPairsThatNoBatchHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		p.atOnce = map[string]int{"gcp": 1}
		d := p.run(t.Context(), p.config(4)) // two of each cloud
		if d.err != nil || d.counts() != [3]int{10, 0, 2} {
			t.Errorf("%v, %+v", d.err, d.Summary)
		}
		want := []string{"both machines at once are more than the quota allows (1 in gcp)"}
		if got := d.errorsOf(results.StatusSkipped); !slices.Equal(got, want) {
			t.Errorf("skipped for %q", got)
		}
	})
}

// TestBarred: a region that can't take part is not launched, nor is one that
// would have nobody to measure with.
func TestBarred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(4)
		closed, lonely := cfg.Pairs[0].From.ID(), cfg.Pairs[0].To.ID()
		cfg.Barred = map[string]string{closed: "not enabled", "aws:elsewhere": "never asked for"}
		kept := cfg.Pairs[:0]
		for _, pair := range cfg.Pairs { // of the lonely one only those with the closed one
			ends := []string{pair.From.ID(), pair.To.ID()}
			if !slices.Contains(ends, lonely) || slices.Contains(ends, closed) {
				kept = append(kept, pair)
			}
		}
		cfg.Pairs = kept
		d := p.run(t.Context(), cfg)
		if d.err != nil || d.counts() != [3]int{2, 0, 6} || d.Regions != 3 || d.Progress.Lost != 1 {
			t.Errorf("%v, %+v", d.err, d.Summary)
		}
		if p.count("launch "+closed)+p.count("launch "+lonely) > 0 {
			t.Errorf("calls: %v", p.calls)
		}
		want := []Lost{{Region: closed, Skipped: true, Reason: "preflight: not enabled"}}
		if diff := cmp.Diff(want, d.Summary.Lost); diff != "" {
			t.Error(diff)
		}
		if got := d.errorsOf(results.StatusSkipped); !slices.Equal(got, []string{closed + ": preflight: not enabled"}) {
			t.Errorf("skipped for %q", got)
		}
	})
}

// TestGivenBatches are measured as they are, but for what is barred.
func TestGivenBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(4)
		closed := cfg.Pairs[0].From.ID()
		cfg.Barred = map[string]string{closed: "not enabled"}
		cfg.Batches = [][]plan.Pair{cfg.Pairs[:3], cfg.Pairs[3:7], cfg.Pairs[7:]}
		d := p.run(t.Context(), cfg)
		if d.err != nil || d.counts() != [3]int{6, 0, 6} || d.Batches != 2 {
			t.Errorf("%v, %+v", d.err, d.Summary)
		}
	})
}
