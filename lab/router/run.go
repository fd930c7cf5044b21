//go:build linux

package router

import (
	"errors"
	"runtime"
	"time"

	"github.com/antipode-bench/antipode/lab/router/link"
)

const (
	// readsPerTurn is how many packets one link may send before the others,
	// and before what is due, have their turn.
	readsPerTurn = 8
	// spinTime is how long before a datagram is due the router stops to sleep,
	// because waking up takes an uncertain part of it.
	spinTime = 50 * time.Microsecond
)

// run carries packets until the router is closed.
func (r *Router) run() {
	defer close(r.done)
	runtime.LockOSThread() // wake-ups of a thread are faster than of a goroutine
	defer runtime.UnlockOSThread()
	wait := forever
	for {
		ready, err := r.poller.wait(wait)
		if err != nil {
			r.log.Error("router stops", "error", err)
			return
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
		wait = r.untilNext()
		r.mu.Unlock()
	}
}

// untilNext is how long the router may sleep.
func (r *Router) untilNext() time.Duration {
	f := r.schedule.next()
	if f == nil {
		return forever
	}
	d := f.at - r.now()
	if f.timed() {
		d -= spinTime
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
