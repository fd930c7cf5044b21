package orchestrator

import (
	"context"
	"crypto/rand"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/providers"
)

// fleet holds the machines of a run while they live.
type fleet struct {
	cfg      Config
	journal  *journal
	reporter *reporter
	secret   []byte // that agents prove to each other
	machines map[string]*machine
	launches *countdown
	news     chan<- news
	history  history      // of earlier processes
	reached  atomic.Bool  // a machine was ready
	answer   atomic.Int32 // machines that answer now

	mu      sync.Mutex
	tried   map[string][]string   // region names by cloud: a launch was intended
	refused map[string]int        // launches by cloud that the cloud did not let us ask for
	address map[string]netip.Addr // that peers measure from and to, by region id
}

// news is what became of a region's machine: one of ready, away and lost.
type news struct {
	id    string
	made  providers.Machine // as far as the cloud got
	ready *guest            // it can measure
	away  error             // it can't, and may be ready again
	lost  error             // it never will be
}

func newFleet(cfg Config, j *journal, r *reporter, tell chan<- news, past history) *fleet {
	f := &fleet{
		cfg: cfg, journal: j, reporter: r, news: tell, history: past,
		secret:   make([]byte, 32),
		machines: map[string]*machine{},
		tried:    map[string][]string{},
		refused:  map[string]int{},
		address:  map[string]netip.Addr{},
	}
	for _, cloud := range past.clouds() {
		f.tried[cloud] = slices.Clone(past.tried[cloud])
	}
	_, _ = rand.Read(f.secret) // never fails
	for _, region := range cfg.regions() {
		m := &machine{fleet: f, region: region, provider: cfg.Providers[region.Cloud], replaced: past.replaced[region.ID()]}
		if old, unfinished := past.instead[region.ID()]; unfinished {
			m.instead = &old
		}
		f.machines[region.ID()] = m
	}
	f.launches = newCountdown(len(f.machines))
	return f
}

// start begins every machine's life at once. The lives end with ctx; wait
// returns when they have, or after limit, because teardown must not wait for
// ever.
func (f *fleet) start(ctx context.Context) (wait func(limit time.Duration)) {
	var lives sync.WaitGroup
	for _, m := range f.machines {
		lives.Go(func() { m.live(ctx) })
	}
	return func(limit time.Duration) {
		over := make(chan struct{})
		go func() { lives.Wait(); close(over) }()
		select {
		case <-over:
		case <-time.After(limit):
			f.cfg.Log.Warn("machines' connections did not close in time", "limit", limit)
		}
	}
}

// tell waits until the measurement hears it, or is over.
func (f *fleet) tell(ctx context.Context, n news) {
	select {
	case f.news <- n:
	case <-ctx.Done():
	}
}

func (f *fleet) intended(m *machine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tried[m.region.Cloud] = append(f.tried[m.region.Cloud], m.region.Name)
}

// launched keeps what came of a launch.
func (f *fleet) launched(m *machine, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil && f.cfg.Choice.addressed(m.made) == nil:
		f.address[m.id()] = f.cfg.Choice.address(m.made)
	case providers.KindOf(err) == providers.Auth && m.made.ID == "":
		f.refused[m.region.Cloud]++
	}
}

// closedTo reports whether a cloud refused every launch, so that nothing of
// ours can be in it.
func (f *fleet) closedTo(cloud string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused[cloud] == len(f.tried[cloud])
}

// triedIn are the regions of a cloud where something may exist.
func (f *fleet) triedIn(cloud string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(f.tried[cloud])))
}

// peersOf are the addresses that measure towards m.
func (f *fleet) peersOf(m *machine) []netip.Addr {
	f.mu.Lock()
	defer f.mu.Unlock()
	var peers []netip.Addr
	for _, p := range f.cfg.Pairs {
		if addr, ok := f.address[p.From.ID()]; ok && p.To == m.region {
			peers = append(peers, addr)
		}
	}
	return peers
}

// targetsOf are the regions that m measures towards, as far as there are machines.
func (f *fleet) targetsOf(m *machine) []antipode.Region {
	f.mu.Lock()
	defer f.mu.Unlock()
	var targets []antipode.Region
	for _, p := range f.cfg.Pairs {
		if _, ok := f.address[p.To.ID()]; ok && p.From == m.region {
			targets = append(targets, p.To)
		}
	}
	return targets
}

// countdown is waited for until it has been done n times.
type countdown struct {
	mu   sync.Mutex
	left int
	zero chan struct{}
}

func newCountdown(n int) *countdown { return &countdown{left: n, zero: make(chan struct{})} }

// Done counts one down.
func (c *countdown) Done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 {
		close(c.zero)
	}
}

func (c *countdown) wait(ctx context.Context) error {
	select {
	case <-c.zero:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
