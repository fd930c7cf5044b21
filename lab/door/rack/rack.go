package rack

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/lab/vm"
)

// Tenant is what a door keeps of a machine. Its methods are called from the
// rack's goroutines; they must not block, nor call the rack or the hypervisor.
type Tenant interface {
	Rules() []vm.Rule     // what may reach the machine now
	Started(vm.Addresses) // the machine exists and its rules hold
	Failed(error)         // the machine could not be started; nothing is left
	Event(vm.Event)       // news of the machine, perhaps before Started
}

// Rack holds the machines of all doors. Safe for concurrent use.
type Rack struct {
	*Dice
	Timing Timing
	Log    *slog.Logger

	machines vm.Hypervisor
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc

	mu      sync.Mutex
	closed  bool
	work    sync.WaitGroup // goroutines of Go
	tenants map[string]*Machine
}

// New returns an empty rack that watches the hypervisor's events.
func New(machines vm.Hypervisor, timing Timing, log *slog.Logger) *Rack {
	r := &Rack{Dice: NewDice(timing.Seed), Timing: timing, Log: log, machines: machines, tenants: map[string]*Machine{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	machines.Watch(r.dispatch)
	return r
}

// Closing is done when the rack closes.
func (r *Rack) Closing() <-chan struct{} { return r.ctx.Done() }

// Go runs f beside the caller. Close waits for it, and ends its context. After
// Close nothing is run.
func (r *Rack) Go(f func(context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.work.Go(func() { f(r.ctx) })
	}
}

// Sleep waits for d or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops all machines, waits for all work and returns what could not be stopped.
// Safe to call twice.
func (r *Rack) Close() error {
	r.mu.Lock()
	r.closed = true
	var machines []*Machine
	for _, m := range r.tenants {
		machines = append(machines, m)
	}
	r.mu.Unlock()
	r.cancel()
	errs := make([]error, len(machines))
	var stops sync.WaitGroup
	for i, m := range machines {
		stops.Go(func() { errs[i] = m.Stop() })
	}
	stops.Wait()
	r.work.Wait()
	return errors.Join(errs...)
}

func (r *Rack) dispatch(e vm.Event) {
	r.mu.Lock()
	m := r.tenants[e.ID]
	r.mu.Unlock()
	if m != nil {
		m.tenant.Event(e)
	}
}
