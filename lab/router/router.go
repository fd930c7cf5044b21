//go:build linux

package router

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/world"
)

// Options of a router.
type Options struct {
	World *world.World
	Log   *slog.Logger // nil is silent

	// Cost is what this computer adds to every packet's way, as Calibrate
	// measured it. It is taken off every delay.
	Cost Cost

	Cuts []Cut // of the controller's way to machines

	// SampleEvery is how often the count of a TCP flow is noted down while it is
	// delivered, for FlowCounts; 0 is never.
	SampleEvery time.Duration
}

// Endpoint is a machine, or the controller's place, as the router sees it.
type Endpoint struct {
	ID          string
	Region      string // "cloud:region"; empty for the controller's place
	MachineType string

	// Network is where its private addresses are known, which may span regions;
	// empty: the region is one of its own.
	Network string

	// Addrs are its own. Private ones (RFC 1918, RFC 4193) are known within
	// the network only, and two networks may use the same; others everywhere.
	Addrs []netip.Addr
}

// network is never empty, but for the controller's place.
func (e Endpoint) network() string { return cmp.Or(e.Network, e.Region) }

// Router carries packets between endpoints until it is closed. Its methods are
// safe for concurrent use.
type Router struct {
	world  *world.World
	log    *slog.Logger
	cost   Cost
	every  time.Duration // between samples
	epoch  time.Time
	poller *poller
	done   chan struct{} // closed when the carrying goroutine has ended

	mu        sync.Mutex // guards all below
	closed    bool
	endpoints map[string]*endpoint
	byFD      map[int]*endpoint
	byAddr    map[scopedAddr]*endpoint
	rules     map[string][]vm.Rule // by endpoint ID; may come before the endpoint
	flows     flowTable
	paths     map[[2]string]*path
	schedule  schedule
	memory    memory
	strays    int64
	cuts      cuts
}

// New starts a router without endpoints.
func New(o Options) (*Router, error) {
	p, err := newPoller()
	if err != nil {
		return nil, fmt.Errorf("start router: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Router{
		world: o.World, log: o.Log, cost: o.Cost, every: o.SampleEvery, epoch: time.Now(),
		poller: p, done: make(chan struct{}),
		endpoints: make(map[string]*endpoint),
		byFD:      make(map[int]*endpoint),
		byAddr:    make(map[scopedAddr]*endpoint),
		rules:     make(map[string][]vm.Rule),
		paths:     make(map[[2]string]*path),
		flows:     newFlowTable(),
		cuts:      cuts{all: o.Cuts},
	}
	ownThread(r.run)
	return r, nil
}

// Attach connects an endpoint. The router takes the link, also on an error.
func (r *Router) Attach(e Endpoint, l *link.Link) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.attach(e, l); err != nil {
		return errors.Join(fmt.Errorf("attach %s to the router: %w", e.ID, err), l.Close())
	}
	return nil
}

func (r *Router) attach(e Endpoint, l *link.Link) error {
	switch {
	case r.closed:
		return errors.New("router is closed")
	case r.endpoints[e.ID] != nil:
		return errors.New("it is attached already")
	case !r.world.Knows(e.Region):
		return fmt.Errorf("region %q is not in the world", e.Region)
	}
	for _, a := range e.Addrs {
		if other := r.byAddr[scoped(e.network(), a)]; other != nil {
			return fmt.Errorf("address %s belongs to %s", a, other.ID)
		}
	}
	if err := r.poller.add(l.FD()); err != nil {
		return err
	}
	r.enlist(newEndpoint(e, l, r.world.Machine(e.Region, e.MachineType)))
	return nil
}

func (r *Router) enlist(e *endpoint) {
	r.endpoints[e.ID], r.byFD[e.link.FD()] = e, e
	for _, a := range e.Addrs {
		r.byAddr[scoped(e.network(), a)] = e
	}
}

// Detach closes an endpoint's link and forgets the endpoint, its rules and its
// flows. Packets on their way to it are dropped. An unknown id is fine.
func (r *Router) Detach(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.rules, id)
	if e := r.endpoints[id]; e != nil {
		r.detach(e)
	}
}

func (r *Router) detach(e *endpoint) {
	e.gone = true
	delete(r.endpoints, e.ID)
	delete(r.byFD, e.link.FD())
	for _, a := range e.Addrs {
		delete(r.byAddr, scoped(e.network(), a))
	}
	r.flows.forget(e)
	r.poller.remove(e.link.FD())
	if err := e.link.Close(); err != nil {
		r.log.Warn("close link", "endpoint", e.ID, "error", err)
	}
}

// SetRules replaces what may open flows to the endpoint, which need not be
// attached yet. Nobody may before the first call. Flows that are open stay
// open, as in the clouds.
func (r *Router) SetRules(id string, rules []vm.Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules[id] = slices.Clone(rules)
}

// Close ends the carrying and closes every link. Safe to call twice.
func (r *Router) Close() error {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	r.mu.Unlock()
	if first {
		r.poller.wake()
	}
	<-r.done
	if !first {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.endpoints {
		r.detach(e)
	}
	return r.poller.close()
}

// now is the time since the router began, the unit of every schedule here.
func (r *Router) now() time.Duration { return time.Since(r.epoch) }
