package hypervisor

import (
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/vm"
)

type fakeSource struct{ stopped atomic.Bool }

func (s *fakeSource) wanted() bool { return !s.stopped.Load() }

func TestEventsAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEvents()
		var got, want []string
		e.watch(func(ev vm.Event) { got = append(got, ev.ID) })
		for i := range 100 {
			want = append(want, strconv.Itoa(i))
			e.post(&fakeSource{}, vm.Event{ID: strconv.Itoa(i)})
		}
		synctest.Wait()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestNoEventsOfTheStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEvents()
		var got []vm.EventKind
		s := &fakeSource{}
		e.watch(func(ev vm.Event) {
			got = append(got, ev.Kind)
			s.stopped.Store(true)
		})
		e.post(s, vm.Event{Kind: vm.Booted})
		e.post(s, vm.Event{Kind: vm.Halted})
		synctest.Wait()
		if diff := cmp.Diff([]vm.EventKind{vm.Booted}, got); diff != "" {
			t.Error(diff)
		}
	})
}
