package rack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/vm/vmtest"
)

// tenant keeps what it hears.
type tenant struct {
	mu     sync.Mutex
	port   uint16 // the one rule
	heard  []string
	failed error
}

func (n *tenant) Rules() []vm.Rule {
	n.mu.Lock()
	defer n.mu.Unlock()
	return []vm.Rule{{Protocol: "tcp", FromPort: n.port, ToPort: n.port, Sources: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}}}
}

func (n *tenant) hear(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard = append(n.heard, what)
}

func (n *tenant) Started(a vm.Addresses) { n.hear("started " + a.Public.String()) }
func (n *tenant) Failed(err error)       { n.failed = err }
func (n *tenant) Event(e vm.Event)       { n.hear(string(e.Kind)) }

func spec(id string) vm.Spec {
	return vm.Spec{ID: id, Cloud: "aws", Region: "r", Zone: "z", MachineType: "t", Hostname: "h", BootDelay: time.Second}
}

func newRack(t *testing.T) (*Rack, *vmtest.Hypervisor) {
	machines := vmtest.New()
	r := New(machines, DefaultTiming(), slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return r, machines
}

func TestLaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, machines := newRack(t)
		n := &tenant{port: 22}
		m := r.Launch(spec("m"), n)
		m.Refresh() // too early: nothing happens
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := fmt.Sprint(n.heard); got != "[started 198.18.0.1 host-key booted]" {
			t.Errorf("heard %s", got)
		}
		if got, _ := machines.Machine("m"); got.Rules[0].FromPort != 22 {
			t.Errorf("rules = %v", got.Rules)
		}
		for range 2 {
			if err := m.Stop(); err != nil {
				t.Errorf("Stop = %v", err)
			}
		}
		m.Refresh() // too late: nothing happens
	})
}

func TestFailedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, machines := newRack(t)
		machines.StartError = func(vm.Spec) error { return errors.New("no") }
		n := &tenant{}
		r.Launch(spec("m"), n)
		synctest.Wait()
		if n.failed == nil || n.heard != nil {
			t.Errorf("failed %v, heard %v", n.failed, n.heard)
		}
	})
}

// The last refresh to end has pushed the newest rules, however many there were.
func TestRefreshesInOrder(t *testing.T) {
	r, machines := newRack(t)
	n := &tenant{}
	m := r.Launch(spec("m"), n)
	var changes sync.WaitGroup
	for range 100 {
		changes.Go(func() {
			n.mu.Lock()
			n.port++
			n.mu.Unlock()
			m.Refresh()
		})
	}
	changes.Wait()
	<-m.begun
	if got, _ := machines.Machine("m"); got.Rules[0].FromPort != 100 {
		t.Errorf("rules = %v, want port 100", got.Rules)
	}
}

func TestClosedRackDoesNothing(t *testing.T) {
	r, machines := newRack(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.Launch(spec("m"), &tenant{})
	r.Go(func(context.Context) { t.Error("work after Close") })
	if got := machines.Running(); len(got) > 0 {
		t.Errorf("running: %v", got)
	}
}

func TestTiming(t *testing.T) {
	if err := DefaultTiming().Validate(); err != nil {
		t.Errorf("the default: %v", err)
	}
	d := NewDice(1)
	for range 1000 {
		if got := d.Duration(Range{2, 4}); got < 2 || got > 4 {
			t.Fatalf("drew %d of 2 to 4", got)
		}
	}
	if a, b := NewDice(7), NewDice(7); a.Uint64() != b.Uint64() {
		t.Error("the same seed fell differently")
	}
}
