//go:build linux

package router

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/router/link"
)

// readsPerTurn is how many packets one link may send before the others, and
// before what is due, have their turn.
const readsPerTurn = 8

// run carries packets until the router is closed, on a thread of its own.
func (r *Router) run() {
	defer close(r.done)
	hasten()
	var early lead
	wait, awake := time.Duration(0), r.now()
	for open := true; open; {
		asleep := r.now()
		ready, err := r.poller.wait(wait)
		if err != nil {
			r.log.Error("router stops", "error", err)
			return
		}
		before := awake
		awake = r.now()
		if r.poller.rang(ready) {
			early.learn(awake - asleep - wait)
		}
		early.spend(awake-before, wait == 0 && len(ready) == 0)
		wait, open = r.turn(ready, early.time())
	}
}

// turn carries what the ready links have sent and all that is due. It returns
// how long the router may sleep then, and false when it is closed.
func (r *Router) turn(ready []unix.EpollEvent, early time.Duration) (wait time.Duration, open bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, false
	}
	for _, event := range ready {
		if e := r.byFD[int(event.Fd)]; e != nil {
			r.read(e)
			r.advance(r.now())
		}
	}
	r.advance(r.now())
	return r.untilNext(early), true
}

// untilNext is how long the router may sleep, to be awake early for a datagram.
func (r *Router) untilNext(early time.Duration) time.Duration {
	f := r.schedule.next()
	if f == nil {
		return forever
	}
	d := f.at - r.now()
	if f.timed() {
		d -= early
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
