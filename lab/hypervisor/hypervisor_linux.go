package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/antipode-bench/antipode/lab/machine"
	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/seqpacket"
	"github.com/antipode-bench/antipode/lab/vm"
)

// Network is what the machines are plugged into: a *router.Router.
type Network interface {
	// Attach takes l over, also when it fails. Nothing reaches the endpoint before SetRules.
	Attach(e router.Endpoint, l *link.Link) error
	SetRules(id string, rules []vm.Rule)
	// Detach unplugs an endpoint and closes its link. Unknown ids are fine.
	Detach(id string)
}

// Config of a hypervisor.
type Config struct {
	Machine []byte    // the static binary that is a machine's first process
	Program string    // path to write it to, on a file system of the caller's own
	Link    link.Kind // what machines are plugged in with
	Network Network
	Log     *slog.Logger
	Output  *os.File // what machines say
}

// Hypervisor is a vm.Hypervisor. It must run in namespaces made for it: veth
// pairs begin in the caller's.
type Hypervisor struct {
	config    Config
	noProgram bool
	spawner   *spawner
	events    *events

	mu        sync.Mutex
	guests    map[string]*guest
	addresses *addresses
	serial    int // of veth pairs
}

var _ vm.Hypervisor = (*Hypervisor)(nil)

// New prepares to run machines.
func New(c Config) (*Hypervisor, error) {
	if err := writeProgram(c.Program, c.Machine); err != nil {
		return nil, err
	}
	noProgram := len(c.Machine) == 0
	c.Machine = nil // it is in the file
	s, err := newSpawner()
	if err != nil {
		return nil, err
	}
	return &Hypervisor{
		noProgram: noProgram,
		config:    c, spawner: s, events: newEvents(),
		guests: make(map[string]*guest), addresses: newAddresses(),
	}, nil
}

// Start is vm.Hypervisor's. It returns when the machine is plugged in.
func (h *Hypervisor) Start(ctx context.Context, spec vm.Spec) (vm.Addresses, error) {
	g, err := h.reserve(spec)
	if err != nil {
		return vm.Addresses{}, fmt.Errorf("start machine %s: %w", spec.ID, err)
	}
	err = ctx.Err() // or a start that is quicker than the notice of its end would succeed
	if err == nil {
		err = h.run(ctx, g)
	}
	if err != nil {
		h.release(g)
		return vm.Addresses{}, fmt.Errorf("start machine %s: %w", spec.ID, err)
	}
	return g.addresses, nil
}

// reserve makes sure that there is one machine of an id.
func (h *Hypervisor) reserve(spec vm.Spec) (*guest, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.guests[spec.ID] != nil {
		return nil, errors.New("it is there already")
	}
	g := &guest{spec: spec, tun: -1, exited: make(chan struct{}), gone: make(chan struct{})}
	var err error
	if g.addresses, err = h.addresses.take(g.region(), spec.Public, spec.IPv6); err != nil {
		return nil, err
	}
	h.serial++
	g.serial = h.serial
	h.guests[spec.ID] = g
	return g, nil
}

// release undoes reserve, when the guest's processes are gone.
func (h *Hypervisor) release(g *guest) {
	h.mu.Lock()
	h.config.Network.Detach(g.spec.ID)
	delete(h.guests, g.spec.ID)
	h.addresses.free(g.region(), g.addresses)
	h.mu.Unlock()
	g.closeFiles()
	close(g.gone)
}

// run brings the machine to life; on an error its processes are gone.
func (h *Hypervisor) run(ctx context.Context, g *guest) error {
	if h.noProgram {
		return errors.New("the lab was started without a machine binary")
	}
	if err := g.spawn(h.spawner, h.config); err != nil {
		return err
	}
	wire, err := g.plug(ctx, h.config.Link)
	if err == nil {
		err = h.config.Network.Attach(g.endpoint(), wire)
	}
	if err != nil {
		g.kill()
		<-g.exited
		return err
	}
	go h.attend(g)
	return nil
}

// attend passes the machine's news on until it is gone.
func (h *Hypervisor) attend(g *guest) {
	for {
		report, files, err := g.receive()
		seqpacket.CloseAll(files)
		if err != nil {
			break
		}
		switch report.Kind {
		case machine.ReportBooted:
			h.events.post(g, vm.Event{ID: g.spec.ID, Kind: vm.Booted})
		case machine.ReportHostKey:
			h.events.post(g, vm.Event{ID: g.spec.ID, Kind: vm.HostKey, HostKey: report.HostKey})
		case machine.ReportFailed:
			h.config.Log.Error("machine failed", "id", g.spec.ID, "err", report.Error)
		}
	}
	g.kill() // it closed its control socket, so it is about to end anyway
	<-g.exited
	h.release(g)
	h.events.post(g, vm.Event{ID: g.spec.ID, Kind: vm.Halted})
}

// Stop is vm.Hypervisor's.
func (h *Hypervisor) Stop(ctx context.Context, id string) error {
	h.mu.Lock()
	g := h.guests[id]
	h.mu.Unlock()
	if g == nil {
		return nil
	}
	g.stop()
	select {
	case <-g.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop machine %s: %w", id, ctx.Err())
	}
}

// SetRules is vm.Hypervisor's.
func (h *Hypervisor) SetRules(id string, rules []vm.Rule) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.guests[id] == nil {
		return fmt.Errorf("set rules: no machine %s", id)
	}
	h.config.Network.SetRules(id, rules)
	return nil
}

// Watch is vm.Hypervisor's.
func (h *Hypervisor) Watch(f func(vm.Event)) { h.events.watch(f) }

// Process is one machine as the lab's inventory shows it.
type Process struct {
	ID      string     `json:"id"`
	Region  string     `json:"region"` // "cloud:region"
	Type    string     `json:"type"`
	PID     int        `json:"pid"` // of the machine's first process, inside the lab
	Public  netip.Addr `json:"public"`
	Private netip.Addr `json:"private"`
	IPv6    netip.Addr `json:"ipv6,omitzero"`
}

// Processes returns the machines that run, ordered by id.
func (h *Hypervisor) Processes() []Process {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []Process{}
	for _, g := range h.guests {
		list = append(list, Process{
			ID: g.spec.ID, Region: g.region(), Type: g.spec.MachineType, PID: g.pid(),
			Public: g.addresses.Public, Private: g.addresses.Private, IPv6: g.addresses.IPv6,
		})
	}
	slices.SortFunc(list, func(a, b Process) int { return strings.Compare(a.ID, b.ID) })
	return list
}
