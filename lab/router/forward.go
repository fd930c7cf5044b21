//go:build linux

package router

import (
	"time"

	"github.com/antipode-bench/antipode/lab/router/packet"
)

// pieceTime is the longest a piece of a super-packet may occupy a link: larger
// ones are cut, or the packets behind would wait for 64 KB at once.
const pieceTime = 1500 * time.Microsecond

// receive takes a packet an endpoint sent. The chunk holds the packet's bytes
// and becomes the router's.
func (r *Router) receive(from *endpoint, o packet.Offload, b []byte, memory *chunk) {
	now := r.now()
	p, err := packet.Parse(o, b)
	to := r.byAddr[scoped(from.network(), p.Dst.Addr())]
	if err != nil || to == nil || r.byAddr[scoped(from.network(), p.Src.Addr())] != from {
		r.strays++
		r.memory.put(memory)
		return
	}
	f := &flight{Packet: p, memory: memory, path: r.path(from.Region, to.Region), to: to}
	var allowed bool
	f.half, allowed = r.flows.admit(&f.Packet, from, r.rules[to.ID], now)
	if f.half != nil {
		f.half.send(f)
	}
	switch {
	case r.cuts.sever(from.Region, to.Region, now):
		r.drop(f, &f.path.count.Dropped.Link)
	case !allowed:
		r.drop(f, &f.path.count.Dropped.Rule)
	case r.memory.full():
		r.drop(f, &f.path.count.Dropped.Queue)
	default:
		if f = r.narrow(from, f, now); f != nil {
			r.send(from, f, now)
		}
	}
}

// send moves a packet out of its machine and on its way, in pieces where the
// slowest link ahead needs long for it.
func (r *Router) send(from *endpoint, f *flight, now time.Duration) {
	limit := f.flowShaper()
	if f = r.fit(f, &from.egress, now); f == nil {
		return
	}
	if f = r.fit(f, limit, from.egress.clear(now)); f == nil {
		return
	}
	most := piece(&f.Packet, from.egress.bps, limit.bps, f.to.ingress.bps)
	for f != nil {
		first := f
		n := min(most, f.path.alike())
		if n < f.Segments() {
			first = r.cut(f, n)
		} else {
			f = nil
		}
		r.dispatch(from, limit, first, now)
	}
}

// express reports whether the packet goes before all that wait: TCP's empty
// ones. The fair queues of real machines let them, and behind a full queue of
// data the other way they would slow down a flow that has room.
func (f *flight) express() bool { return f.Protocol == packet.TCP && len(f.Body) == 0 }

// through charges the packet to a link and returns when it is through it.
func (f *flight) through(s *shaper, at time.Duration) time.Duration {
	free := s.take(at, f.WireLen())
	if f.express() {
		return at
	}
	return free
}

// flowShaper is what holds the packet's flow to its rate.
func (f *flight) flowShaper() *shaper {
	if f.half == nil {
		return &shaper{}
	}
	if !f.half.shaped {
		f.half.shaper, f.half.shaped = f.path.newFlowShaper(), true
	}
	return &f.half.shaper
}

// piece is how many segments of p may go at once if the links ahead have the
// rates.
func piece(p *packet.Packet, rates ...float64) int {
	n := p.Segments()
	for _, bps := range rates {
		if bps > 0 {
			n = min(n, int(pieceTime.Seconds()*bps/8)/p.WireLenOf(1))
		}
	}
	return max(1, n)
}

// fit drops what a link's queue has no room for: the end of a super-packet, or
// all of the packet, and then it returns nil.
func (r *Router) fit(f *flight, s *shaper, at time.Duration) *flight {
	room, limited := s.room(at)
	if !limited || f.express() {
		return f
	}
	return r.trim(f, room, &f.path.count.Dropped.Queue)
}

// trim drops what does not fit into room bytes, in the same way.
func (r *Router) trim(f *flight, room int, reason *int64) *flight {
	n := f.SegmentsIn(room)
	if n == f.Segments() {
		return f
	}
	var first *flight
	if n > 0 {
		first = r.cut(f, n)
	}
	r.drop(f, reason)
	return first
}

// cut takes the first n segments off f, as a flight of their own.
func (r *Router) cut(f *flight, n int) *flight {
	first := *f
	first.Packet = f.Cut(n)
	f.number += int64(n)
	f.memory.users++
	return &first
}

// dispatch charges a piece to the links at its beginning and schedules its
// arrival, unless the path loses it.
func (r *Router) dispatch(from *endpoint, limit *shaper, f *flight, now time.Duration) {
	at := f.through(limit, f.through(&from.egress, now))
	if f = r.police(f, at); f == nil {
		return
	}
	if f.path.loss.hit() {
		r.drop(f, &f.path.count.Dropped.Loss)
		return
	}
	f.path.loss.pass(f.Segments())
	f.travel(at)
	if f.path.duplicate.hit() {
		r.double(f)
		return
	}
	f.path.duplicate.pass(f.Segments())
	r.schedule.add(f)
}

// police drops what is above the path's rate: nil if that is all.
func (r *Router) police(f *flight, at time.Duration) *flight {
	p := &f.path.policer
	room, limited := p.room(at)
	if !limited {
		return f
	}
	if f = r.trim(f, room, &f.path.count.Dropped.Policer); f != nil {
		p.take(f.WireLen())
	}
	return f
}

// travel sets when a flight arrives. What is held back does not keep others
// waiting that were sent later.
func (f *flight) travel(at time.Duration) {
	f.at = at + f.path.travel()
	if f.half != nil {
		f.at = max(f.at, f.half.last)
	}
	switch {
	case f.path.reorder.hit():
		f.at += f.path.hold
		return
	case f.half != nil:
		f.half.last = f.at
	}
	f.path.reorder.pass(f.Segments())
}

// double schedules a flight and its copy, which is right behind it.
func (r *Router) double(f *flight) {
	f.twin = &twin{}
	f.memory.users++
	f.path.count.Copied += int64(f.Segments())
	again := *f
	r.schedule.add(f)
	r.schedule.add(&again)
}

// advance moves every flight that is due at a time.
func (r *Router) advance(now time.Duration) {
	for due := r.schedule.pop(now); due != nil; due = r.schedule.pop(now) {
		f := due
		if !f.received {
			f = r.arrive(f)
		}
		if f != nil {
			r.deliver(f, now)
		}
	}
}

// arrive takes a flight through its receiver's link. It returns what is to be
// delivered now: nil if the flight has to wait there, or is dropped.
func (r *Router) arrive(f *flight) *flight {
	if f = r.fit(f, &f.to.ingress, f.at); f == nil {
		return nil
	}
	f.received = true
	if at := f.through(&f.to.ingress, f.at); at > f.at {
		f.at = at
		r.schedule.add(f)
		return nil
	}
	return f
}

func (r *Router) deliver(f *flight, now time.Duration) {
	if f.to.gone || f.to.link.Write(f.Offload, f.Head, f.Body) != nil {
		r.drop(f, &f.path.count.Dropped.Link)
		return
	}
	f.path.count.Delivered.add(&f.Packet)
	f.path.count.Late.note(&f.Packet, now-f.at)
	if f.half != nil {
		f.half.deliver(f, now, r.every)
	}
	r.memory.put(f.memory)
}

// drop ends a flight and counts its segments.
func (r *Router) drop(f *flight, reason *int64) {
	*reason += int64(f.Segments())
	r.memory.put(f.memory)
}
