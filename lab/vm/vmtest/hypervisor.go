package vmtest

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/lab/vm"
)

// HostKey is the public host key of every machine that was given none.
const HostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"

// Machine is what the hypervisor knows of one running machine.
type Machine struct {
	Spec      vm.Spec
	Addresses vm.Addresses
	Rules     []vm.Rule // nil before the first SetRules
	Booted    bool
}

// Hypervisor is a vm.Hypervisor in memory. Its exported fields are set before
// the first call and not changed afterwards.
type Hypervisor struct {
	StartDelay time.Duration         // Start takes this long
	StartError func(vm.Spec) error   // when set, may make Start fail
	StopError  func(id string) error // when set, may make Stop fail
	mu         sync.Mutex            // guards what follows
	running    map[string]*machine   // by id
	seen       map[string]bool       // every id ever started
	started    int                   // how many machines were ever started
	watchers   []func(vm.Event)      // called in order
	events     sync.Mutex            // held while an event is delivered: one at a time
}

type machine struct {
	Machine
	boot *time.Timer
}

var _ vm.Hypervisor = (*Hypervisor)(nil)

// New returns a hypervisor without machines.
func New() *Hypervisor {
	return &Hypervisor{running: map[string]*machine{}, seen: map[string]bool{}}
}

// Start implements vm.Hypervisor. An id is good for one machine only, ever.
func (h *Hypervisor) Start(ctx context.Context, spec vm.Spec) (vm.Addresses, error) {
	if err := check(spec); err != nil {
		return vm.Addresses{}, fmt.Errorf("start %q: %w", spec.ID, err)
	}
	if err := sleep(ctx, h.StartDelay); err != nil {
		return vm.Addresses{}, fmt.Errorf("start %q: %w", spec.ID, err)
	}
	if h.StartError != nil {
		if err := h.StartError(spec); err != nil {
			return vm.Addresses{}, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen[spec.ID] {
		return vm.Addresses{}, fmt.Errorf("start %q: the id was used before", spec.ID)
	}
	h.seen[spec.ID] = true
	h.started++
	m := &machine{Machine: Machine{Spec: spec, Addresses: addresses(h.started, spec.IPv6)}}
	h.running[spec.ID] = m
	if !spec.Faults.NeverBoot {
		m.boot = time.AfterFunc(spec.BootDelay, func() { h.booted(m) })
	}
	return m.Addresses, nil
}

// Stop implements vm.Hypervisor.
func (h *Hypervisor) Stop(_ context.Context, id string) error {
	if h.StopError != nil {
		if err := h.StopError(id); err != nil {
			return err
		}
	}
	h.remove(id)
	return nil
}

// SetRules implements vm.Hypervisor. Unknown machines and malformed rules are errors.
func (h *Hypervisor) SetRules(id string, rules []vm.Rule) error {
	for _, rule := range rules {
		if err := checkRule(rule); err != nil {
			return fmt.Errorf("rules of %q: %w", id, err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.running[id]
	if !ok {
		return fmt.Errorf("rules of %q: no such machine", id)
	}
	m.Rules = append([]vm.Rule{}, rules...)
	return nil
}

// Watch implements vm.Hypervisor; every watcher gets every event.
func (h *Hypervisor) Watch(f func(vm.Event)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers = append(h.watchers, f)
}

// Halt makes a machine power itself off. Unknown ids are fine.
func (h *Hypervisor) Halt(id string) {
	if h.remove(id) {
		h.send(vm.Event{ID: id, Kind: vm.Halted})
	}
}

// Machine returns a copy of what is known of a running machine.
func (h *Hypervisor) Machine(id string) (Machine, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.running[id]
	if !ok {
		return Machine{}, false
	}
	return m.Machine, true
}

// Running returns the ids of the running machines, sorted.
func (h *Hypervisor) Running() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for id := range h.running {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (h *Hypervisor) booted(m *machine) {
	h.mu.Lock()
	_, running := h.running[m.Spec.ID]
	m.Booted = running
	h.mu.Unlock()
	if !running {
		return
	}
	if len(m.Spec.HostKeyPEM) == 0 {
		h.send(vm.Event{ID: m.Spec.ID, Kind: vm.HostKey, HostKey: HostKey})
	}
	h.send(vm.Event{ID: m.Spec.ID, Kind: vm.Booted})
}

func (h *Hypervisor) send(e vm.Event) {
	h.events.Lock()
	defer h.events.Unlock()
	h.mu.Lock()
	watchers := slices.Clone(h.watchers)
	h.mu.Unlock()
	for _, f := range watchers {
		f(e)
	}
}

func (h *Hypervisor) remove(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.running[id]
	if ok && m.boot != nil {
		m.boot.Stop()
	}
	delete(h.running, id)
	return ok
}

// addresses returns the n-th machine's addresses, counted from 1, as the lab
// gives them: public ones from the ranges of RFC 2544 and RFC 5180, private ones
// from RFC 1918's.
func addresses(n int, ipv6 bool) vm.Addresses {
	at := func(base uint32) netip.Addr {
		return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, base+uint32(n))))
	}
	all := vm.Addresses{Public: at(198<<24 | 18<<16), Private: at(10 << 24)}
	if ipv6 {
		b := [16]byte{0x20, 0x01, 0x00, 0x02}
		binary.BigEndian.PutUint32(b[12:], uint32(n))
		all.IPv6 = netip.AddrFrom16(b)
	}
	return all
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return ctx.Err()
	}
}
