//go:build linux

package router

import (
	"errors"
	"time"

	"github.com/antipode-bench/antipode/lab/router/link"
)

// readsPerTurn is how many packets one link may send before the others, and
// before what is due, have their turn.
const readsPerTurn = 8

// run carries packets until the router is closed, on a thread of its own.
func (r *Router) run() {
	defer close(r.done)
	hasten()
	var wait time.Duration
	var early lead
	for {
		slept := r.now()
		ready, err := r.poller.wait(wait)
		if err != nil {
			r.log.Error("router stops", "error", err)
			return
		}
		if r.poller.rang(ready) {
			early.learn(r.now() - slept - wait)
		}
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			return
		}
		for _, event := range ready {
			if e := r.byFD[int(event.Fd)]; e != nil {
				r.read(e)
				r.advance(r.now())
			}
		}
		r.advance(r.now())
		wait = r.untilNext(early)
		r.mu.Unlock()
	}
}

// untilNext is how long the router may sleep. It is awake early for a datagram.
func (r *Router) untilNext(early lead) time.Duration {
	f := r.schedule.next()
	if f == nil {
		return forever
	}
	d := f.at - r.now()
	if f.timed() {
		d -= early.time()
	}
	return max(0, d)
}

// read takes what an endpoint has sent.
func (r *Router) read(e *endpoint) {
	for range readsPerTurn {
		memory := r.memory.get(link.MaxRead)
		o, b, err := e.link.Read(memory.bytes)
		if err != nil {
			r.memory.put(memory)
			if !errors.Is(err, link.ErrEmpty) {
				r.log.Debug("link ended", "endpoint", e.ID, "error", err)
				r.poller.remove(e.link.FD())
			}
			return
		}
		memory, b = r.memory.shrink(memory, b)
		r.receive(e, o, b, memory)
	}
}
