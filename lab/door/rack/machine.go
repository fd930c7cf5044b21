package rack

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/lab/vm"
)

// stopTimeout bounds the end of one machine: its process tree is killed, so
// longer means that the hypervisor is stuck.
const stopTimeout = 30 * time.Second

// Machine is one machine in the rack, from Launch to Stop.
type Machine struct {
	rack   *Rack
	id     string
	tenant Tenant
	cancel context.CancelFunc // of the start
	begun  chan struct{}      // closed when Start has returned

	mu sync.Mutex // held while rules are pushed, so that the last push has the newest
	up bool       // Start succeeded and Stop was not called
}

// Launch starts a machine in the background and returns at once. The tenant
// hears of it by Started or Failed, exactly one of them, unless the rack is closed.
func (r *Rack) Launch(spec vm.Spec, tenant Tenant) *Machine {
	ctx, cancel := context.WithCancel(r.ctx)
	m := &Machine{rack: r, id: spec.ID, tenant: tenant, cancel: cancel, begun: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		cancel()
		close(m.begun)
		return m
	}
	r.tenants[spec.ID] = m
	r.work.Go(func() { m.start(ctx, spec) })
	return m
}

func (m *Machine) start(ctx context.Context, spec vm.Spec) {
	defer close(m.begun)
	addrs, err := m.rack.machines.Start(ctx, spec)
	if err != nil {
		m.rack.Log.Error("machine not started", "id", m.id, "err", err)
		m.rack.forget(m.id)
		m.tenant.Failed(err)
		return
	}
	m.mu.Lock()
	m.up = true
	m.mu.Unlock()
	m.Refresh()
	m.tenant.Started(addrs)
}

// Refresh brings what may reach the machine up to date, and returns when it
// holds. It does nothing before the machine is started or after its stop.
func (m *Machine) Refresh() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.up {
		return
	}
	if err := m.rack.machines.SetRules(m.id, m.tenant.Rules()); err != nil {
		// A machine that powered itself off a moment ago has no rules to set.
		m.rack.Log.Warn("rules not set", "id", m.id, "err", err)
	}
}

// Stop ends the machine and returns when it is gone. A start in progress is
// given up. Safe to call twice and at once.
func (m *Machine) Stop() error {
	m.cancel()
	<-m.begun
	m.mu.Lock()
	m.up = false
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := m.rack.machines.Stop(ctx, m.id); err != nil {
		return fmt.Errorf("stop machine %s: %w", m.id, err)
	}
	m.rack.forget(m.id)
	return nil
}

func (r *Rack) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tenants, id)
}
