package doortest

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/vm/vmtest"
)

// World is what is behind the doors.
type World struct {
	Machines *vmtest.Hypervisor
	Doors    *door.Doors
}

// Open opens doors until the test ends, with machines of its own.
func Open(t testing.TB, o door.Options) *World {
	t.Helper()
	w := &World{Machines: vmtest.New()}
	o.Machines = w.Machines
	var err error
	if w.Doors, err = door.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Doors.Close(); err != nil {
			t.Errorf("close the doors: %v", err)
		}
	})
	return w
}

// Left lists what really exists, however late the API's own lists are.
func (w *World) Left() []string {
	var list []string
	for _, item := range w.Doors.Inventory().Alive() {
		list = append(list, fmt.Sprint(item.Kind, " ", item.ID, " ", item.State))
	}
	return append(list, w.Machines.Running()...)
}

// Disliked lists what a real cloud would have taken without a word, and the door
// noted.
func (w *World) Disliked() []string {
	var list []string
	for _, item := range w.Doors.Inventory() {
		for _, warning := range item.Warnings {
			list = append(list, fmt.Sprint(item.Kind, " ", item.ID, ": ", warning))
		}
	}
	return list
}

// Untagged lists what really exists without this tag, of some kinds or, if none
// are given, of all.
func (w *World) Untagged(key, value string, kinds ...string) []string {
	var list []string
	for _, item := range w.Doors.Inventory().Alive() {
		if got, ok := item.Tags[key]; (!ok || got != value) && (len(kinds) == 0 || slices.Contains(kinds, item.Kind)) {
			list = append(list, fmt.Sprint(item.Kind, " ", item.ID, " ", item.Tags))
		}
	}
	return list
}

// Reaches says whether the rules of the machine at an address let a packet
// in.
func (w *World) Reaches(to netip.Addr, protocol string, port int, from netip.Addr) bool {
	for _, id := range w.Machines.Running() {
		if m, ok := w.Machines.Machine(id); ok && (m.Addresses.Public == to || m.Addresses.IPv6 == to) {
			return slices.ContainsFunc(m.Rules, func(r vm.Rule) bool {
				return (r.Protocol == protocol || r.Protocol == "all") && int(r.FromPort) <= port && port <= int(r.ToPort) &&
					slices.ContainsFunc(r.Sources, func(p netip.Prefix) bool { return p.Contains(from) })
			})
		}
	}
	return false
}

// Rack is what one door needs behind it, until the test ends.
func Rack(t testing.TB, faults fault.Faults, timing rack.Timing) (*rack.Rack, *fault.Injector, *vmtest.Hypervisor) {
	machines := vmtest.New()
	r, injector := rack.New(machines, timing, Silence), fault.NewInjector(faults)
	t.Cleanup(func() {
		injector.Release()
		if err := r.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
		if left := machines.Running(); len(left) > 0 {
			t.Errorf("machines left running: %v", left)
		}
	})
	return r, injector, machines
}
