package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/results"
)

// repeated runs cfg and returns the numbers of repetitions of each pair in the
// order of its rows.
func (p *planet) repeated(ctx context.Context, cfg Config) (Summary, map[direction][]int64, []results.Row, error) {
	p.t.Helper()
	s, err := Run(ctx, cfg)
	synctest.Wait()
	p.idle(p.t)
	rows, numbers := p.numbers()
	if s.Done() != len(rows) || s.Rows != len(rows) || s.Running != 0 {
		p.t.Errorf("%d rows; the summary has %+v", len(rows), s.Progress)
	}
	return s, numbers, rows, err
}

func (p *planet) numbers() ([]results.Row, map[direction][]int64) {
	p.t.Helper()
	rows, err := readRows(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	numbers := map[direction][]int64{}
	for _, r := range rows {
		d := direction{r.FromCloud + ":" + r.FromRegion, r.ToCloud + ":" + r.ToRegion}
		numbers[d] = append(numbers[d], *r.Repetition)
	}
	return rows, numbers
}

// TestRepeat: every pair is measured once before any is measured again, round
// trips too, and the bound is that of all rounds.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(4)
		cfg.Repeat = plan.Repetition{Times: 3}
		s, numbers, rows, err := p.repeated(t.Context(), cfg)
		if err != nil || s.Pairs != 12 || s.OK != 36 || s.Bytes != 36e9 || len(numbers) != 12 {
			t.Fatalf("%v, %+v of %d pairs", err, s.Progress, len(numbers))
		}
		for i, r := range rows {
			if want := int64(1 + i/12); *r.Repetition != want {
				t.Errorf("row %d is repetition %d, want %d", i, *r.Repetition, want)
			}
		}
		round := 3*400*time.Millisecond + 3*3100*time.Millisecond
		if s.Bound != 3*round || s.Makespan < s.Bound || s.Makespan > s.Bound+time.Second || s.Round != 3 || s.Rounds != 3 {
			t.Errorf("%v, bound %v, want %v; %+v", s.Makespan, s.Bound, 3*round, s.Progress)
		}
	})
}

// TestUntilStable: the planet's goodputs are always the same, so the fewest rows
// are enough.
func TestUntilStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(3)
		cfg.Repeat = plan.Repetition{Times: 20, Stable: .05}
		s, numbers, _, err := p.repeated(t.Context(), cfg)
		if err != nil || s.OK != 6*plan.LeastStable || len(numbers) != 6 {
			t.Errorf("%v, %+v", err, s.Progress)
		}
	})
}

// TestRepeatOfFailures: a pair that fails is tried in every round; one whose
// machine is lost ends with a row that says so.
func TestRepeatOfFailures(t *testing.T) {
	const bad = "aws:eu-west-1" // 2 pairs from there, 2 to it
	for name, tt := range map[string]struct {
		fault                   fault
		rows, ok, failed, skips int
	}{
		"throughput fails": {fault{throughput: errors.New("x")}, 18, 12, 6, 0},
		"never ready":      {fault{push: errors.New("x")}, 14, 6, 4, 4},
		"not for us":       {fault{launch: errQuota}, 10, 6, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				p.faults[bad] = tt.fault
				cfg := p.config(6)
				cfg.Pairs = slices.DeleteFunc(cfg.Pairs, func(pair plan.Pair) bool { return !ofThree(pair) })
				cfg.Repeat = plan.Repetition{Times: 3}
				s, numbers, rows, err := p.repeated(t.Context(), cfg)
				if err != nil || len(rows) != tt.rows || s.OK != tt.ok || s.Failed != tt.failed || s.Skipped != tt.skips || len(numbers) != 6 {
					t.Errorf("%v, %d rows, %+v", err, len(rows), s.Progress)
				}
				past, err := Reopen(p.dir)
				if err != nil {
					t.Fatal(err)
				}
				defer past.Close()
				if left := past.Remaining(); len(left) > 0 || !past.Finished() {
					t.Errorf("remaining are %v", left)
				}
			})
		})
	}
}

func ofThree(p plan.Pair) bool {
	three := []string{"aws:us-east-1", "aws:eu-west-1", "aws:ap-northeast-1"}
	return slices.Contains(three, p.From.ID()) && slices.Contains(three, p.To.ID())
}

// TestRepeatInterrupted: a pair that lacks repetitions has a last row that says why.
func TestRepeatInterrupted(t *testing.T) {
	for _, after := range []time.Duration{9 * time.Second, 20 * time.Second, 35 * time.Second} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(after, cancel)
				cfg := p.config(4)
				cfg.Repeat = plan.Repetition{Times: 3}
				s, numbers, rows, _ := p.repeated(ctx, cfg)
				whole := 0
				for _, r := range rows {
					if *r.Repetition == 3 && r.Status == results.StatusOK {
						whole++
					}
				}
				if !s.Interrupted || s.Skipped == 0 || s.Skipped+whole != 12 || s.Failed > 0 || len(numbers) != 12 {
					t.Errorf("%d rows, %+v", len(rows), s)
				}
				past, err := Reopen(p.dir)
				if err != nil {
					t.Fatal(err)
				}
				defer past.Close()
				if !past.Finished() {
					t.Errorf("remaining are %v", past.Remaining())
				}
			})
		})
	}
}

// TestRepeatAfterAKill: a resume ends the round that was going on, and then goes
// on with the others.
func TestRepeatAfterAKill(t *testing.T) {
	for _, rows := range []int{1, 12, 17, 30} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := newPlanet(t)
				cfg := first.config(4)
				cfg.Repeat = plan.Repetition{Times: 3}
				p := first.killedWith(cfg, newPlanet(t), pairs(rows))
				before, _ := p.numbers()
				s, err := p.resume(nil)
				all, numbers := p.numbers()
				if err != nil || s.OK != 36 || s.Rows != 36 || s.Pairs != 12 || len(before) == 0 || len(before) == 36 {
					t.Fatalf("%v, %+v after %d rows", err, s.Progress, len(before))
				}
				for d, got := range numbers {
					if diff := cmp.Diff([]int64{1, 2, 3}, got); diff != "" {
						t.Errorf("%v (-want +got):\n%s", d, diff)
					}
				}
				for i, r := range all {
					if want := int64(1 + i/12); *r.Repetition != want {
						t.Errorf("row %d is repetition %d, want %d", i, *r.Repetition, want)
					}
				}
			})
		})
	}
}

var errQuota = &providers.Error{Op: "RunInstances", Cloud: "aws", Region: "eu-west-1", Kind: providers.Quota, Err: errors.New("0 vCPUs")}
