package orchestrator

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/results"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// config is a run of n regions on p.
func (p *planet) config(n int) Config {
	_, pairs, err := plan.Select(antipode.Regions(), plan.Wishes{MaxRegions: n})
	if err != nil {
		p.t.Fatal(err)
	}
	return Config{
		RunID: "20261130t172233z-ab23", Dir: p.dir, Expires: time.Now().Add(6 * time.Hour), Pairs: pairs, AtOnce: p.atOnce,
		Providers:      map[string]providers.Provider{"aws": &fakeCloud{p, "aws"}, "gcp": &fakeCloud{p, "gcp"}},
		MachineTypes:   map[string]string{"aws": "t3.nano", "gcp": "e2-small"},
		Remote:         fakeRemote{p},
		ControllerAddr: netip.MustParseAddr("198.18.255.1"),
		Test:           Test{Duration: 3 * time.Second, Streams: 4, RTTProbes: 20, RTTInterval: 20 * time.Millisecond},
	}
}

// done is a finished run.
type done struct {
	Summary
	err    error
	rows   []results.Row
	events []Event
	lasted time.Duration
}

// run runs cfg and checks what holds for every run: a row for every pair, in
// the file and in the counts, and nothing left open.
func (p *planet) run(ctx context.Context, cfg Config) done {
	p.t.Helper()
	var d done
	cfg.Observer = func(e Event) { d.events = append(d.events, e) }
	began := time.Now()
	d.Summary, d.err = Run(ctx, cfg)
	d.lasted = time.Since(began)
	synctest.Wait()
	p.idle(p.t)
	file, err := results.ReadFile(filepath.Join(p.dir, "results.csv"))
	if err != nil {
		p.t.Errorf("read results: %v", err)
	}
	d.rows = file.Rows
	pairs := map[string]int{}
	for _, r := range d.rows {
		pairs[r.FromCloud+":"+r.FromRegion+">"+r.ToCloud+":"+r.ToRegion]++
	}
	for _, pair := range cfg.Pairs {
		if pairs[pair.String()] != 1 {
			p.t.Errorf("%d rows for %s, want 1", pairs[pair.String()], pair)
		}
	}
	if d.Done() != len(cfg.Pairs) || d.Running != 0 {
		p.t.Errorf("summary counts %d of %d pairs, %d running", d.Done(), len(cfg.Pairs), d.Running)
	}
	return d
}

// errorsOf are the reasons of rows with a status.
func (d done) errorsOf(status string) []string {
	var reasons []string
	for _, r := range d.rows {
		if r.Status == status {
			reasons = append(reasons, r.Error)
		}
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// counts are OK, failed, skipped.
func (d done) counts() [3]int { return [3]int{d.OK, d.Failed, d.Skipped} }

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(6)
		cfg.Flags = []string{results.FlagLab}
		cfg.Remarks = func(p plan.Pair) []string { return []string{"to-" + p.To.Name} }
		d := p.run(t.Context(), cfg)
		if d.err != nil || d.Teardown != nil || d.Interrupted || d.counts() != [3]int{30, 0, 0} {
			t.Fatalf("Run = %+v, %v", d.Summary, d.err)
		}
		if left := p.alive(); len(left) > 0 {
			t.Errorf("left alive: %v", left)
		}
		if d.Ready != 6 || d.Bytes != 30e9 {
			t.Errorf("%d ready, %d bytes; want 6, 30e9", d.Ready, d.Bytes)
		}
		if d.Makespan < d.Bound || d.Makespan > d.Bound*110/100 {
			t.Errorf("makespan %v, bound %v", d.Makespan, d.Bound)
		}
		sum := d.Took[PhaseLaunch] + d.Took[PhaseMeasure] + d.Took[PhaseTeardown]
		if d.Took[PhaseLaunch] != 8*time.Second || d.Took[PhaseTeardown] != 3*time.Second || sum != d.lasted {
			t.Errorf("phases took %v of %v", d.Took, d.lasted)
		}
		checkRow(t, d.rows)
	})
}

// TestRunIsolation: all tests of a machine at once, or one; round trips come first.
func TestRunIsolation(t *testing.T) {
	for isolation, rounds := range map[plan.Isolation]int{plan.None: 1, plan.Duplex: 5, plan.Host: 10} {
		t.Run(string(isolation), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				p.crowded = isolation == plan.None
				cfg := p.config(6)
				cfg.Isolation = isolation
				d := p.run(t.Context(), cfg)
				want := 5*400*time.Millisecond + time.Duration(rounds)*3100*time.Millisecond
				if d.err != nil || d.OK != 30 || d.Bound != want || d.Makespan < want || d.Makespan > want+400*time.Millisecond {
					t.Errorf("%v, %d ok in %v, no less than %v; want %v", d.err, d.OK, d.Makespan, d.Bound, want)
				}
				for _, r := range d.rows {
					if r.HasFlag(results.FlagConcurrent) != (isolation == plan.None) {
						t.Errorf("flags %q", r.Flags)
					}
				}
			})
		})
	}
}

func checkRow(t *testing.T, rows []results.Row) {
	t.Helper()
	i := slices.IndexFunc(rows, func(r results.Row) bool { return r.FromCloud == "aws" && r.ToCloud == "gcp" })
	got := rows[i]
	want := results.Row{
		RunID: "20261130t172233z-ab23", Timestamp: got.Timestamp, Status: "ok",
		FromCloud: "aws", FromRegion: got.FromRegion, FromZone: got.FromRegion + "-a", FromMachine: "t3.nano",
		ToCloud: "gcp", ToRegion: got.ToRegion, ToZone: got.ToRegion + "-a", ToMachine: "e2-small",
		DistanceKm: got.DistanceKm, Path: "public", IPVersion: "4", NetworkTier: "premium",
		RTTMinMs: ptr(400.), RTTMeanMs: ptr(411.), RTTP50Ms: ptr(410.), RTTP99Ms: ptr(450.), RTTStddevMs: ptr(1.), RTTLossRatio: ptr(0.), RTTProbes: ptr(int64(20)),
		GoodputBps: ptr(1e9), GoodputMeanBps: ptr(9e8), Bytes: ptr(int64(1e9)), DurationS: ptr(3.), Streams: ptr(int64(4)),
		CongestionControl: "cubic", MSSBytes: ptr(int64(1448)), RetransmitRatio: ptr(.01), LimitedBy: "unknown", Flags: "lab;a;b;to-" + got.ToRegion,
		NoDelay: "false", DSCP: ptr(int64(0)), Repetition: ptr(int64(1)),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if at, err := time.Parse(time.RFC3339, got.Timestamp); err != nil || got.DistanceKm == nil || at.IsZero() {
		t.Errorf("timestamp %q, distance %v", got.Timestamp, got.DistanceKm)
	}
}

func ptr[T any](v T) *T { return &v }

func TestRunFaults(t *testing.T) {
	const bad = "aws:eu-west-1" // 10 of the 30 pairs
	cloudError := func(kind providers.Kind, text string) error {
		return &providers.Error{Op: "RunInstances", Cloud: "aws", Region: "eu-west-1", Kind: kind, Err: errors.New(text)}
	}
	for _, tt := range []struct {
		name   string
		fault  fault
		counts [3]int // ok, failed, skipped
		reason string // of the rows that aren't ok
		within time.Duration
	}{
		{"no capacity", fault{launch: cloudError(providers.Capacity, "none in three zones")}, [3]int{20, 10, 0}, bad + ": launch: RunInstances: none in three zones", 0},
		{"quota", fault{launch: cloudError(providers.Quota, "0 vCPUs")}, [3]int{20, 0, 10}, bad + ": launch: RunInstances: 0 vCPUs", 0},
		{"not opted in", fault{launch: cloudError(providers.Skip, "not opted in")}, [3]int{20, 0, 10}, bad + ": launch: RunInstances: not opted in", 0},
		{"never launches", fault{launchHangs: true}, [3]int{20, 10, 0}, bad + ": launch: no success within 10m0s: RunInstances: context deadline exceeded", 11 * time.Minute},
		{"never boots", fault{bootHangs: true}, [3]int{20, 0, 10}, bad + ": connect: gave up: no success within 5m0s; its replacement: connect: gave up: no success within 5m0s", 11 * time.Minute},
		{"first never boots", fault{stillborn: true}, [3]int{30, 0, 0}, "", 6 * time.Minute},
		{"taken away", fault{taken: 15 * time.Second}, [3]int{30, 0, 0}, "", 2 * time.Minute},
		{"taken away early", fault{taken: 9 * time.Second}, [3]int{30, 0, 0}, "", 2 * time.Minute},
		{"SSH refused", fault{connect: errors.New("connection\nrefused")}, [3]int{20, 10, 0}, bad + ": connection refused", 0},
		{"push fails", fault{push: errors.New("push: no space")}, [3]int{20, 10, 0}, bad + ": push: no space", 0},
		{"agent does not start", fault{agent: errors.New("exec format error")}, [3]int{20, 10, 0}, bad + ": exec format error", 0},
		{"not admitted", fault{admit: cloudError(providers.Unknown, "rule limit")}, [3]int{20, 10, 0}, bad + ": admit peers: RunInstances: rule limit", 0},
		{"late", fault{launchTakes: time.Minute}, [3]int{30, 0, 0}, "", 3 * time.Minute},
		{"agent does not answer", fault{silent: true}, [3]int{20, 10, 0}, bad + ": the agent does not answer", 4 * time.Minute},
		{"rtt fails", fault{rtt: errors.New("peer refused")}, [3]int{25, 5, 0}, "rtt: peer refused", 0},
		{"no answers", fault{nothing: true}, [3]int{25, 5, 0}, "rtt: no answer to 20 probes", 0},
		{"throughput fails", fault{throughput: errors.New("peer vanished")}, [3]int{25, 5, 0}, "throughput: peer vanished", 0},
		{"implausible", fault{implausible: true}, [3]int{25, 5, 0}, "implausible measurement: column retransmit_ratio: 2 is outside 0 to 1", 0},
		{"closed to teardown", fault{destroy: cloudError(providers.Skip, "not opted in"), list: cloudError(providers.Skip, "not opted in"), launch: cloudError(providers.Skip, "no")}, [3]int{20, 0, 10}, bad + ": launch: RunInstances: no", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlanet(t)
				p.faults[bad] = tt.fault
				d := p.run(t.Context(), p.config(6))
				if d.err != nil || d.Teardown != nil || d.counts() != tt.counts {
					t.Errorf("counts %v, want %v; %v, teardown %v", d.counts(), tt.counts, d.err, d.Teardown)
				}
				reasons := slices.Concat(d.errorsOf(results.StatusFailed), d.errorsOf(results.StatusSkipped))
				if got := strings.Join(reasons, "\n"); got != tt.reason {
					t.Errorf("reasons:\n%s\nwant:\n%s", got, tt.reason)
				}
				if tt.within == 0 {
					tt.within = time.Minute
				}
				if d.lasted > tt.within {
					t.Errorf("lasted %v, want at most %v", d.lasted, tt.within)
				}
				if left := p.alive(); len(left) > 0 {
					t.Errorf("left alive: %v", left)
				}
			})
		})
	}
}
