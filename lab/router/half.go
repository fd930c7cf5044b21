package router

import (
	"time"

	"github.com/antipode-bench/antipode/lab/router/packet"
)

// half is one direction of a flow.
type half struct {
	shaper    shaper
	shaped    bool
	last      time.Duration // when its last packet arrives: none overtakes it, unless it is held back
	delivered Tally

	sent       int64 // segments
	duplicated int64 // segments
	reordered  int64 // segments
	next       int64 // the number of the first segment that is later than all delivered ones
	stream     stream
	samples    []FlowSample
}

// twin is what the copies of a segment that the path duplicated know of each
// other.
type twin struct{ arrived bool }

// FlowSample is how much of a flow had been delivered at a time.
type FlowSample struct {
	At    time.Duration `json:"at_ns"` // since the router began
	Bytes int64         `json:"bytes"` // of TCP payload, each byte once
}

// maxSamples bounds what is kept of one direction of a flow.
const maxSamples = 1 << 17

// FlowCount is what became of one flow, in one direction.
type FlowCount struct {
	packet.Flow
	Delivered Tally `json:"delivered"` // copies included

	Sent       int64 `json:"sent"`       // segments that its sender sent
	Duplicated int64 `json:"duplicated"` // segments that were delivered once more

	// Reordered are the segments that were delivered after one that was sent
	// later (RFC 4737, type-P-reordered), duplicates apart. What is meant to
	// overtake, TCP's empty segments, is left out.
	Reordered int64 `json:"reordered"`

	PayloadBytes int64        `json:"payload_bytes"` // of TCP, delivered, each byte once
	Samples      []FlowSample `json:"samples,omitempty"`
}

// Lost is the number of segments that have not arrived, be they dropped or on
// their way.
func (c FlowCount) Lost() int64 { return c.Sent - (c.Delivered.Packets - c.Duplicated) }

func (h *half) count(f packet.Flow) FlowCount {
	return FlowCount{
		Flow: f, Delivered: h.delivered, Sent: h.sent, Duplicated: h.duplicated, Reordered: h.reordered,
		PayloadBytes: h.stream.bytes, Samples: h.samples[:len(h.samples):len(h.samples)],
	}
}

// send numbers the segments of a flight in the order of their sending.
func (h *half) send(f *flight) {
	f.number = h.sent
	h.sent += int64(f.Segments())
}

// deliver counts a flight that has arrived. A sample is taken at the first
// delivery after every interval; 0 takes none.
func (h *half) deliver(f *flight, now, every time.Duration) {
	h.delivered.add(&f.Packet)
	n := int64(f.Segments())
	if f.twin != nil && f.twin.arrived {
		h.duplicated += n
		return
	}
	if f.twin != nil {
		f.twin.arrived = true
	}
	h.order(f, n)
	if f.Protocol != packet.TCP || f.Fragment {
		return
	}
	if f.TCPFlags&packet.SYN != 0 {
		h.stream.open(f.Seq())
	} else {
		h.stream.deliver(f.Seq(), len(f.Body))
	}
	h.sample(now, every)
}

func (h *half) order(f *flight, n int64) {
	switch {
	case f.express():
	case f.number < h.next:
		h.reordered += n
	default:
		h.next = f.number + n
	}
}

func (h *half) sample(now, every time.Duration) {
	n := len(h.samples)
	if every == 0 || n == maxSamples || n > 0 && now-h.samples[n-1].At < every {
		return
	}
	h.samples = append(h.samples, FlowSample{now, h.stream.bytes})
}
