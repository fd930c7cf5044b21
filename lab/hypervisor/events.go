package hypervisor

import (
	"sync"

	"github.com/antipode-bench/antipode/lab/vm"
)

// source is who an event is about.
type source interface {
	// wanted is false when nobody wants to hear of it any more.
	wanted() bool
}

// events hands events to watchers, one at a time and in order, without ever
// holding up who posts them.
type events struct {
	mu       sync.Mutex
	watchers []func(vm.Event)
	queue    []posted
	busy     bool // a goroutine is working the queue off
}

type posted struct {
	from  source
	event vm.Event
}

func newEvents() *events { return &events{} }

func (e *events) watch(f func(vm.Event)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watchers = append(e.watchers, f)
}

func (e *events) post(from source, event vm.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue = append(e.queue, posted{from, event})
	if !e.busy {
		e.busy = true
		go e.deliver()
	}
}

// deliver ends when the queue is empty.
func (e *events) deliver() {
	for {
		e.mu.Lock()
		if len(e.queue) == 0 {
			e.busy = false
			e.mu.Unlock()
			return
		}
		p := e.queue[0]
		e.queue = e.queue[1:]
		watchers := e.watchers
		e.mu.Unlock()
		for _, f := range watchers {
			if p.from.wanted() {
				f(p.event)
			}
		}
	}
}
