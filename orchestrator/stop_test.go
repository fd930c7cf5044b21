package orchestrator

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/results"
)

// TestRunInterrupted ends the context at moments of every phase.
func TestRunInterrupted(t *testing.T) {
	for name, after := range map[string]time.Duration{
		"at once":          0,
		"while launching":  time.Second,
		"while connecting": 4 * time.Second,
		"while pushing":    7*time.Second + 500*time.Millisecond,
		"during rtt":       8*time.Second + 200*time.Millisecond,
		"during tests":     15 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				ctx, cancel := context.WithTimeoutCause(t.Context(), after, context.Canceled)
				defer cancel()
				d := p.run(ctx, p.config(6))
				if !errors.Is(d.err, context.Canceled) || !d.Interrupted || d.Teardown != nil {
					t.Errorf("Run = %v, interrupted %v, teardown %v", d.err, d.Interrupted, d.Teardown)
				}
				if d.Failed != 0 || !slices.Equal(d.errorsOf(results.StatusSkipped), []string{"interrupted"}) {
					t.Errorf("%d failed, skipped because %q", d.Failed, d.errorsOf(results.StatusSkipped))
				}
				if name == "during tests" && d.OK == 0 {
					t.Error("what was measured is lost")
				}
				if left := p.alive(); len(left) > 0 || d.lasted > after+4*time.Second {
					t.Errorf("left alive: %v, after %v", left, d.lasted)
				}
			})
		})
	}
}

// TestRunInterruptedTeardown ends the context when all is measured.
func TestRunInterruptedTeardown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		ctx, cancel := context.WithCancel(t.Context())
		cfg := p.config(2)
		cfg.Providers["aws"] = &cancellingCloud{fakeCloud{p, "aws"}, cancel}
		d := p.run(ctx, cfg)
		if d.err != nil || d.Interrupted || d.OK != 2 || len(p.alive()) > 0 {
			t.Errorf("Run = %+v, %v; alive %v", d.Summary, d.err, p.alive())
		}
	})
}

type cancellingCloud struct {
	fakeCloud
	cancel func()
}

func (c *cancellingCloud) Destroy(ctx context.Context, runID string, regions []string) error {
	c.cancel()
	return c.fakeCloud.Destroy(ctx, runID, regions)
}

func TestRunExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(6)
		cfg.Expires = time.Now().Add(15 * time.Second)
		d := p.run(t.Context(), cfg)
		if !d.Expired || d.Interrupted || !errors.Is(d.err, errExpired) || d.OK == 0 {
			t.Errorf("Run = %+v, %v", d.Summary, d.err)
		}
		if got := d.errorsOf(results.StatusSkipped); !slices.Equal(got, []string{"the run expired"}) {
			t.Errorf("skipped because %q", got)
		}
	})
}

func TestRunAuth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(6)
		refused := &providers.Error{Op: "RunInstances", Cloud: "aws", Kind: providers.Auth, Err: errors.New("no credentials")}
		for _, r := range cfg.regions() {
			if r.Cloud == "aws" {
				p.faults[r.ID()] = fault{launch: refused, launchTakes: time.Second, destroy: refused, list: refused}
			}
		}
		d := p.run(t.Context(), cfg)
		if !errors.Is(d.err, refused) || d.Interrupted || d.OK != 0 || d.Teardown != nil {
			t.Errorf("Run = %+v, %v", d.Summary, d.err)
		}
		if got := d.errorsOf(results.StatusSkipped); len(got) != 1 || !strings.HasPrefix(got[0], "the run was stopped: ") {
			t.Errorf("skipped because %q", got)
		}
		if left := p.alive(); len(left) > 0 || d.lasted > 10*time.Second {
			t.Errorf("left alive: %v, after %v", left, d.lasted)
		}
	})
}

// TestRunAgentDies takes an agent away in the middle of its tests, again and
// again: the machine is reached again, and the tests are repeated.
func TestRunAgentDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bad = "aws:eu-west-1"
		p := newPlanet(t)
		p.faults[bad] = fault{dies: 12 * time.Second}
		d := p.run(t.Context(), p.config(6))
		if d.err != nil || d.counts() != [3]int{30, 0, 0} || len(d.Lost) > 0 || d.Ready != 6 {
			t.Errorf("Run = %+v, %v", d.Summary, d.err)
		}
		away, cut := 0, 0
		for _, e := range d.events {
			switch {
			case e.Kind == RegionChanged && e.State == StateAway:
				away++
				if e.Region != bad || e.Err.Error() != bad+": the agent ended" || e.Progress.Ready != 5 {
					t.Errorf("%s is away: %v; %+v", e.Region, e.Err, e.Progress)
				}
			case e.Kind == TestEnded && e.Err != nil:
				cut++
			}
		}
		if away == 0 || cut == 0 || !p.journalHas(func(r Record) bool { return r.What == RecordAway && r.Region == bad }) {
			t.Errorf("away %d times, %d tests cut short", away, cut)
		}
	})
}

// TestRunLosesNetwork lets the controller's network break without a word, for
// so long, and come back.
func TestRunLosesNetwork(t *testing.T) {
	for name, tt := range map[string]struct {
		lasts  time.Duration
		partly bool // only the way to machines
		want   [3]int
	}{
		"for a minute":             {time.Minute, false, [3]int{30, 0, 0}},
		"for an hour":              {time.Hour, false, [3]int{0, 30, 0}},
		"for a few seconds":        {3 * time.Second, false, [3]int{30, 0, 0}},
		"to machines for a minute": {time.Minute, true, [3]int{30, 0, 0}},
		"to machines for an hour":  {time.Hour, true, [3]int{0, 30, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				p.outage(10*time.Second, tt.lasts)
				p.partly = tt.partly
				d := p.run(t.Context(), p.config(6))
				if d.err != nil || d.counts() != tt.want || d.lasted > 18*time.Minute {
					t.Errorf("Run = %+v, %v after %v", d.Progress, d.err, d.lasted)
				}
				if n := p.count("launch"); tt.partly && n != 6 {
					t.Errorf("%d launches, want 6: it is us who can't reach them", n)
				}
			})
		})
	}
}

func TestRunAllFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(6)
		for _, r := range cfg.regions() {
			p.faults[r.ID()] = fault{connect: errors.New("refused")}
		}
		d := p.run(t.Context(), cfg)
		if d.err != nil || d.Failed != 30 || len(d.Lost) == 0 || len(p.alive()) > 0 {
			t.Errorf("Run = %+v, %v", d.Summary, d.err)
		}
	})
}

func TestRunLeft(t *testing.T) {
	const bad = "gcp:me-central1"
	for name, f := range map[string]fault{
		"destroy fails": {destroy: errors.New("in use")},
		"list fails":    {list: errors.New("no answer")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				p.faults[bad] = f
				d := p.run(t.Context(), p.config(6))
				if d.err != nil || d.OK != 30 || d.Teardown == nil {
					t.Errorf("Run = %+v, %v; want a teardown error", d.Summary, d.err)
				}
				if f.destroy != nil && (len(d.Left) != 1 || d.Left[0].Region != "me-central1") {
					t.Errorf("left %v", d.Left)
				}
				if n := p.count("destroy gcp"); n != teardownTries {
					t.Errorf("destroyed %d times, want %d", n, teardownTries)
				}
				if !p.journalHas(func(r Record) bool { return r.What == RecordDestroyed && r.Cloud == "gcp" && r.Error != "" }) {
					t.Error("the journal does not say that something is left")
				}
			})
		})
	}
}

// TestTeardownWaits for a network that is away when all is measured.
func TestTeardownWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		lasts, within time.Duration
		clean         bool
	}{
		"as long as it may": {10 * time.Minute, 13 * time.Minute, true},
		"and no longer":     {time.Hour, 17 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				p.outage(27*time.Second, tt.lasts)
				d := p.run(t.Context(), p.config(6))
				if d.err != nil || d.OK != 30 || (d.Teardown == nil) != tt.clean || (len(p.alive()) == 0) != tt.clean {
					t.Errorf("Run = %+v, %v; alive %v", d.Summary, d.err, p.alive())
				}
				if d.lasted > tt.within {
					t.Errorf("lasted %v, want at most %v", d.lasted, tt.within)
				}
				if !slices.ContainsFunc(d.events, func(e Event) bool { return e.Kind == TeardownStalls && e.Pause == time.Minute && e.Err != nil }) {
					t.Error("nobody was told")
				}
			})
		})
	}
}

// TestRunBrokenFiles breaks the run's files under it: nothing may be made or
// measured that can't be written down.
func TestRunBrokenFiles(t *testing.T) {
	for _, tt := range []struct {
		name     string
		on       func(Event) bool
		file     func(*run) error
		launches int
	}{
		{"journal from the start", func(e Event) bool { return e.Phase == PhaseLaunch }, func(r *run) error { return r.journal.close() }, 0},
		{"journal while launching", func(e Event) bool { return e.State == StateBooting }, func(r *run) error { return r.journal.close() }, 6},
		{"journal while measuring", func(e Event) bool { return e.Kind == TestEnded }, func(r *run) error { return r.journal.close() }, 6},
		{"results", func(e Event) bool { return e.Kind == PairEnded }, func(r *run) error { return r.files.rows.Close() }, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				var r *run
				cfg := p.config(6).withDefaults()
				cfg.Observer = func(e Event) {
					if tt.on(e) {
						_ = tt.file(r) // already closed after the first time
					}
				}
				r, err := open(cfg)
				if err != nil {
					t.Fatal(err)
				}
				err = r.do(t.Context())
				if !errors.Is(err, os.ErrClosed) || r.summary().Interrupted {
					t.Errorf("do = %v, %+v; want a stopped run", err, r.summary())
				}
				_, _ = r.journal.close(), r.files.rows.Close()
				if n := p.count("launch"); n != tt.launches || len(p.alive()) > 0 {
					t.Errorf("%d launches, want %d; alive %v", n, tt.launches, p.alive())
				}
				p.idle(t)
			})
		})
	}
}

// TestRun46 measures a third of the pairs, to be quick.
func TestRun46(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		p.faults["aws:sa-east-1"] = fault{dies: time.Minute}
		cfg := p.config(46)
		var pairs []plan.Pair
		for i := 0; i < len(cfg.Pairs); i += 3 {
			pairs = append(pairs, cfg.Pairs[i])
		}
		cfg.Pairs = pairs
		d := p.run(t.Context(), cfg)
		if d.err != nil || d.Regions != 46 || d.OK != len(pairs) {
			t.Errorf("Run = %+v, %v", d.Progress, d.err)
		}
		if d.Makespan > d.Bound*110/100 {
			t.Errorf("makespan %v, bound %v", d.Makespan, d.Bound)
		}
	})
}

func TestRunRefuses(t *testing.T) {
	p := newPlanet(t)
	for name, tt := range map[string]struct {
		spoil func(*Config)
		want  string
	}{
		"run id":      {func(c *Config) { c.RunID = "A B" }, "run id"},
		"no pairs":    {func(c *Config) { c.Pairs = nil }, "no pairs"},
		"no remote":   {func(c *Config) { c.Remote = nil }, "no way to reach"},
		"no address":  {func(c *Config) { c.ControllerAddr = netip.Addr{} }, "address is unknown"},
		"expired":     {func(c *Config) { c.Expires = time.Now().Add(-time.Hour) }, "not in the future"},
		"endless":     {func(c *Config) { c.Test.Duration = 0 }, "needs bytes or a duration"},
		"streams":     {func(c *Config) { c.Test.Streams = 129 }, "129 streams"},
		"probes":      {func(c *Config) { c.Test.RTTProbes = 0 }, "0 round-trip probes"},
		"interval":    {func(c *Config) { c.Test.RTTInterval = 0 }, "between round-trip probes"},
		"twice":       {func(c *Config) { c.Pairs = append(c.Pairs, c.Pairs[0]) }, "there twice"},
		"itself":      {func(c *Config) { c.Pairs = []plan.Pair{{From: c.Pairs[0].From, To: c.Pairs[0].From}} }, "within one region"},
		"no provider": {func(c *Config) { delete(c.Providers, "gcp") }, `cloud "gcp"`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := p.config(6)
			tt.spoil(&cfg)
			if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run = %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := os.Stat(p.dir); err == nil {
		t.Error("a refused run left a folder")
	}
}

func TestRunKeepsOldFiles(t *testing.T) {
	p := newPlanet(t)
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "results.csv"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), p.config(2)); !errors.Is(err, os.ErrExist) {
		t.Errorf("Run = %v, want that a file exists", err)
	}
	if n := p.count("launch"); n > 0 {
		t.Errorf("%d launches", n)
	}
}
