package router

import (
	"container/heap"
	"time"

	"github.com/antipode-bench/antipode/lab/router/packet"
)

// flight is a packet on its way.
type flight struct {
	packet.Packet
	memory   *chunk
	path     *path
	half     *half // nil for what belongs to no flow
	to       *endpoint
	number   int64         // in its half, of its first segment
	twin     *twin         // nil for what the path did not duplicate
	at       time.Duration // when it is due
	order    uint64        // of flights due at the same time
	received bool          // it is through the receiving machine's link
}

// timed reports whether somebody may be measuring the packet's time: they use
// datagrams.
func (f *flight) timed() bool { return f.Protocol != packet.TCP }

// schedule holds flights until they are due. The zero schedule is empty.
type schedule struct {
	flights flights
	order   uint64
}

func (s *schedule) add(f *flight) {
	s.order++
	f.order = s.order
	heap.Push(&s.flights, f)
}

// next is the flight due first, or nil.
func (s *schedule) next() *flight {
	if len(s.flights) == 0 {
		return nil
	}
	return s.flights[0]
}

// pop removes and returns the next flight if it is due at a time, else nil.
func (s *schedule) pop(at time.Duration) *flight {
	if f := s.next(); f == nil || f.at > at {
		return nil
	}
	return heap.Pop(&s.flights).(*flight)
}

// flights is a heap.Interface.
type flights []*flight

func (f flights) Len() int      { return len(f) }
func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(*flight)) }

func (f flights) Less(i, j int) bool {
	if f[i].at != f[j].at {
		return f[i].at < f[j].at
	}
	return f[i].order < f[j].order
}

func (f *flights) Pop() any {
	last := len(*f) - 1
	x := (*f)[last]
	(*f)[last] = nil
	*f = (*f)[:last]
	return x
}
