package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
)

// Config is all a run needs to know.
type Config struct {
	RunID          string
	Dir            string    // for journal.jsonl and results.csv, which must not exist
	Expires        time.Time // when machines end themselves; nothing is measured after it
	Pairs          []plan.Pair
	Barred         map[string]string             // by region id, why it can't take part: its pairs are skipped
	Batches        [][]plan.Pair                 // how the pairs are cut; nil: by AtOnce. Pairs that none has are skipped
	AtOnce         map[string]int                // machines there may be at a time, by cloud or of plan.AllClouds; none: as many as regions
	Providers      map[string]providers.Provider // by cloud
	MachineTypes   map[string]string             // by cloud
	Choice         Choice
	Remote         Remote
	ControllerAddr netip.Addr     // the only address that may reach SSH
	ProbePort      int            // where agents listen; 0 means wire.DefaultPort
	Isolation      plan.Isolation // empty means plan.Duplex
	Test           Test
	Repeat         plan.Repetition // of each pair
	Tune           bool            // raise the limits of the machines' kernels as far as they allow
	Limits         Limits
	Flags          []string                 // of every row
	Baseline       Baseline                 // may be nil
	Remarks        func(plan.Pair) []string // further flags of a pair just measured; may be nil
	Rates          plan.Rates               // to count with what is used
	BudgetUSD      float64                  // what the run may cost by these; 0: no limit
	Fastest        Baseline                 // what a machine sends at most, in bit/s with headers; may be nil
	Estimate       *Estimate                // of the plan, for the manifest; may be nil
	Version        string                   // of antipode, for the manifest
	Command        map[string]string        // flags that a resume needs again, for the manifest
	Observer       func(Event)              // may be nil; see Event
	Log            *slog.Logger             // may be nil
}

// Baseline is what a machine of a type in a region (by its id) gets in the long
// run in each direction, in bit/s with headers; 0 where it is as fast as at first.
type Baseline func(region, machineType string) float64

// of is the lower one of the ends that have one.
func (b Baseline) of(from, to string, fromType, toType string) float64 {
	if b == nil {
		return 0
	}
	one, other := b(from, fromType), b(to, toType)
	if one == 0 || other == 0 {
		return max(one, other)
	}
	return min(one, other)
}

// Test says how every pair is measured.
type Test struct {
	Duration          time.Duration // of a throughput test; 0: only Bytes end it
	Bytes             int64         // of a throughput test; 0: only Duration ends it
	ErrorRatio        float64       // a throughput test ends when its rate is known within it; 0: it does not end by itself
	Streams           int           // parallel connections, 1 to 128
	CongestionControl string        // empty: the machines' default
	FlowCheck         bool          // a test of one stream that a cap limits tries two for a moment; costs egress
	Options           wire.TCPOptions
	RTTProbes         int           // 1 to 100,000 each way
	RTTInterval       time.Duration // between probes
	UDP               UDPTest
}

// Limits end what takes too long. A zero field means its default.
type Limits struct {
	Launch    time.Duration // one machine, until it has an address (10 min)
	Connect   time.Duration // until its SSH answers (5 min)
	Reconnect time.Duration // until SSH answers again, once a connection was lost (90 s)
	Push      time.Duration // of the probe (3 min)
	Agent     time.Duration // until the agent listens (30 s)
	Admit     time.Duration // of a machine's peers (3 min)
	Bytes     time.Duration // a throughput test without a Duration (1 min)
	Slack     time.Duration // a test over its nominal length (10 s)
	Settle    time.Duration // closing connections before teardown (30 s)
	Teardown  time.Duration // everything destroyed and listed (15 min)
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		limit *time.Duration
		usual time.Duration
	}{
		{&l.Launch, 10 * time.Minute},
		{&l.Connect, 5 * time.Minute},
		{&l.Reconnect, 90 * time.Second},
		{&l.Push, 3 * time.Minute},
		{&l.Agent, 30 * time.Second},
		{&l.Admit, 3 * time.Minute},
		{&l.Bytes, time.Minute},
		{&l.Slack, 10 * time.Second},
		{&l.Settle, 30 * time.Second},
		{&l.Teardown, 15 * time.Minute},
	} {
		if *f.limit == 0 {
			*f.limit = f.usual
		}
	}
	return l
}

// Linger is how long an agent lives on that hears nothing from us: a third longer
// than its machine is dialled again.
func (l Limits) Linger() time.Duration { return l.withDefaults().Reconnect * 4 / 3 }

func (c Config) withDefaults() Config {
	c.Limits = c.Limits.withDefaults()
	if c.ProbePort == 0 {
		c.ProbePort = wire.DefaultPort
	}
	if c.Isolation == "" {
		c.Isolation = plan.Duplex
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// check finds what would fail later, when it costs money.
func (c Config) check(now time.Time) error {
	switch {
	case providers.CheckRunID(c.RunID) != nil:
		return providers.CheckRunID(c.RunID)
	case len(c.Pairs) == 0:
		return errors.New("no pairs to measure")
	case c.Remote == nil:
		return errors.New("no way to reach machines")
	case !(c.BudgetUSD >= 0) || c.BudgetUSD > 0 && c.Rates.Table == nil:
		return fmt.Errorf("a budget of %v USD: not 0 or more, or without prices", c.BudgetUSD)
	case !c.Expires.After(now):
		return fmt.Errorf("expires at %s, which is not in the future", c.Expires.Format(time.RFC3339))
	}
	return cmp.Or(c.checkTest(), c.Choice.check(), c.checkPairs())
}

func (c Config) checkTest() error {
	switch t := c.Test; {
	case !c.ControllerAddr.IsValid():
		return errors.New("the controller's address is unknown")
	case t.Bytes < 0 || t.Duration < 0 || t.Bytes == 0 && t.Duration == 0:
		return errors.New("a throughput test needs bytes or a duration to end")
	case t.ErrorRatio != 0 && !(t.ErrorRatio >= wire.MinErrorRatio && t.ErrorRatio <= wire.MaxErrorRatio):
		return fmt.Errorf("error ratio %v: not %v to %v", t.ErrorRatio, wire.MinErrorRatio, wire.MaxErrorRatio)
	case t.Streams < 1 || t.Streams > 128:
		return fmt.Errorf("%d streams: not 1 to 128", t.Streams)
	case t.RTTProbes < 1 || t.RTTProbes > 100_000:
		return fmt.Errorf("%d round-trip probes: not 1 to 100,000", t.RTTProbes)
	case t.Options.Validate(t.Streams) != nil:
		return t.Options.Validate(t.Streams)
	case t.RTTInterval <= 0:
		return fmt.Errorf("%v between round-trip probes: not above zero", t.RTTInterval)
	}
	if r := c.Repeat; r.Times < 0 || r.Stable < 0 || r.Stable > 0 && r.Times < plan.LeastStable {
		return fmt.Errorf("%+v: no such repetition", r)
	}
	return c.Test.UDP.check()
}

func (c Config) checkPairs() error {
	seen := map[plan.Pair]bool{}
	for _, p := range c.Pairs {
		if p.From == p.To || seen[p] {
			return fmt.Errorf("pair %s: within one region, or there twice", p)
		}
		seen[p] = true
		for _, cloud := range []string{p.From.Cloud, p.To.Cloud} {
			if c.Providers[cloud] == nil || c.MachineTypes[cloud] == "" {
				return fmt.Errorf("pair %s: no provider or machine type for cloud %q", p, cloud)
			}
		}
	}
	return nil
}

// order suits the tests: those that don't end by time differ in length.
func (t Test) order() plan.Order {
	if t.Bytes > 0 || t.ErrorRatio > 0 {
		return plan.Greedy
	}
	return plan.Tournament
}

// machineType is what is wished for in a region.
func (c Config) machineType(region string) string {
	cloud, _, _ := antipode.SplitID(region)
	return c.MachineTypes[cloud]
}

// measurable are the pairs that have the path to measure.
func (c Config) measurable() []plan.Pair {
	return slices.DeleteFunc(slices.Clone(c.Pairs), func(p plan.Pair) bool { return c.Choice.Bars(p) != "" })
}

// regions are those that need a machine.
func (c Config) regions() []antipode.Region { return plan.RegionsOf(c.measurable()) }

func (c Config) regionIDs() []string {
	var ids []string
	for _, r := range c.regions() {
		ids = append(ids, r.ID())
	}
	return ids
}

func (c Config) run() providers.Run {
	return providers.Run{ID: c.RunID, Expires: c.Expires, Tags: c.Choice.Tags}
}
