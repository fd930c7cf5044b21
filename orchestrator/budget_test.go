package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/prices"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/results"
)

// dear makes cfg count money: its tests send 1 GB, and may send up to 1.5.
func dear(cfg Config, usd float64) Config {
	cfg.Rates, cfg.BudgetUSD = plan.Rates{Table: prices.Default()}, usd
	cfg.Fastest = func(region, machineType string) float64 { return 4e9 }
	return cfg
}

// TestBudget: a run stops before it costs more than it may, uses most of that,
// and gives every pair its row. One that fits is not stopped.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		usd   float64
		least float64 // of it that is used
		all   bool
	}{
		{.001, 0, false}, {.1, 0, false}, {.3, .2, false}, {.6, .5, false}, {.9, .6, false}, {1.8, 0, true}, {1e12, 0, true}, {0, 0, true},
	} {
		t.Run(fmt.Sprint(tt.usd), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				d := p.run(t.Context(), dear(p.config(4), tt.usd))
				if d.OverBudget == tt.all || (d.OK == 12) != tt.all || d.Failed > 0 || d.Teardown != nil || d.Interrupted {
					t.Errorf("%v, %+v", d.err, d.Summary)
				}
				if used := d.Used.USD; !tt.all && (used > tt.usd || used < tt.least*tt.usd) {
					t.Errorf("used %v USD, want %v to %v", used, tt.least*tt.usd, tt.usd)
				}
				for _, reason := range d.errorsOf(results.StatusSkipped) {
					if !strings.Contains(reason, "the budget of "+dollars(tt.usd)+" USD has no room for more") {
						t.Errorf("skipped for %q", reason)
					}
				}
				if left := p.alive(); len(left) > 0 {
					t.Errorf("left alive: %v", left)
				}
			})
		})
	}
}

// TestBudgetLosesNothing: what was sent and paid for has its row.
func TestBudgetLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		d := p.run(t.Context(), dear(p.config(6), 1.2))
		tests := 0
		for _, r := range p.journal() {
			if r.What == RecordThroughput {
				tests++
			}
		}
		if !d.OverBudget || d.OK != tests || d.OK == 0 || d.OK+d.Skipped != 30 {
			t.Errorf("%d tests, %+v", tests, d.Summary)
		}
	})
}

// TestBudgetOfMachines: those that are awaited cost too, and no other batch is
// launched that there is no room for.
func TestBudgetOfMachines(t *testing.T) {
	table, err := prices.Parse("p.yaml", []byte("machines: [{cloud: aws, type: t3.nano, usd_per_hour: 1}, {cloud: gcp, type: e2-small, usd_per_hour: 1}]"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		usd    float64
		change func(*planet)
		ok     bool // some pairs are
	}{
		"a machine that never boots": {1, func(p *planet) { p.faults["aws:eu-west-1"] = fault{launchHangs: true} }, false},
		"a second batch":             {.9, func(p *planet) { p.atOnce = map[string]int{"gcp": 1} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				tt.change(p)
				cfg := dear(p.config(6), tt.usd)
				cfg.Rates.Table, cfg.Test.Bytes = table, 1e6
				d := p.run(t.Context(), cfg)
				if used := d.Used.USD; !d.OverBudget || used > tt.usd || (d.OK > 0) != tt.ok || d.Skipped == 0 {
					t.Errorf("used %v USD of %v: %v, %+v", used, tt.usd, d.err, d.Summary)
				}
			})
		})
	}
}

// TestAssumed: what a test sent that ended without a count is assumed, by how
// long it lasted where its agents answered.
func TestAssumed(t *testing.T) {
	cfg := dear(newPlanet(t).config(2), 1)
	m := &measurement{run: &run{cfg: cfg.withDefaults()}}
	failed := way{direction: direction{"aws:a", "aws:b"}, err: errors.New("x")}
	counted := failed
	counted.throughput = &wire.ThroughputResult{}
	for name, tt := range map[string]struct {
		way  way
		o    outcome
		want int64
	}{
		"well":          {way{}, outcome{took: time.Second}, 0},
		"counted":       {counted, outcome{took: time.Second}, 0},
		"short":         {failed, outcome{took: time.Second}, 500_000_000},
		"long":          {failed, outcome{took: time.Minute}, 1_500_000_000},
		"may go on yet": {failed, outcome{took: time.Second, away: []*awayError{{}}}, 1_500_000_000},
	} {
		tt.o.task.Kind = plan.Throughput
		if got := m.assumed(tt.way, tt.o); got != tt.want {
			t.Errorf("%s: %d bytes, want %d", name, got, tt.want)
		}
	}
	limited := cfg.withDefaults()
	limited.Test.Bytes, limited.Test.UDP = 1e6, UDPTest{RateBps: 8e6, Duration: time.Second}
	if forth, _ := limited.mostBytes(plan.Throughput, failed.direction, 0); forth < 2.05e6 || forth > 2.4e6 {
		t.Errorf("a MB of TCP and one of UDP are %v bytes at most", forth)
	}
}

// TestBudgetAfterAKill: a resume counts what was used before it.
func TestBudgetAfterAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newPlanet(t)
		after := newPlanet(t)
		cfg := dear(first.config(4), .9)
		cfg.Command, cfg.Version = map[string]string{"lab": "demo"}, "1.2"
		p := first.killedWith(cfg, after, pairs(3))
		used := 0.0
		s, err := p.resume(func(c *Config) {
			if c.BudgetUSD != .9 {
				t.Errorf("the budget is %v, want .9", c.BudgetUSD)
			}
			*c = dear(*c, c.BudgetUSD)
		})
		used = s.Used.USD
		var over *BudgetError
		if !errors.As(err, &over) || !s.OverBudget || used > .9 || used < .5 || s.OK < 4 || s.OK+s.Skipped != 12 {
			t.Errorf("used %v USD: %v, %+v", used, err, s)
		}
	})
}

// TestBudgetInterrupted: an interruption is none of the budget's.
func TestBudgetInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(20*time.Second, cancel)
		if d := p.run(ctx, dear(p.config(6), 100)); d.OverBudget || !d.Interrupted {
			t.Errorf("%v, %+v", d.err, d.Summary)
		}
	})
}
