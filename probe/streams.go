//go:build linux

package probe

import (
	"fmt"
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// maxStreamSamples is how many samples of single streams a test keeps, 8 MB of
// them. When they get more, every second one goes.
const maxStreamSamples = 1 << 16

// streams follows each stream of a test by itself.
type streams struct {
	base, last []totals
	logs       []trace.Log
	every      int // samples of which one is kept
	seen       int // samples
}

func newStreams(base []totals) *streams {
	s := &streams{base: base, last: base, logs: make([]trace.Log, len(base)), every: 1}
	for i, t := range base {
		s.logs[i] = trace.Log{{SRTT: t.SRTT, MinRTT: t.MinRTT, Fed: true, Whole: true}}
	}
	return s
}

func (s *streams) add(at time.Duration, each []totals) {
	s.last = each
	if s.seen++; s.seen%s.every != 0 {
		return
	}
	for i, t := range each {
		sample := t.since(s.base[i], at)
		sample.Fed = t.hungry
		s.logs[i] = append(s.logs[i], sample)
	}
	if len(s.logs)*len(s.logs[0]) >= maxStreamSamples {
		s.every *= 2
		for i, l := range s.logs {
			s.logs[i] = l.EverySecond()
		}
	}
}

// results has what every stream had of the whole: bytes by the receiver's
// count, nil if it never came, and the goodput of the part that lasted from one
// moment to the other, in bit/s.
func (s *streams) results(bytes []int64, from, to time.Duration, goodputBps float64) []wire.StreamResult {
	shares := make([]float64, len(s.logs))
	total := 0.0
	for i, l := range s.logs {
		shares[i] = l.AckedAt(to) - l.AckedAt(from)
		total += shares[i]
	}
	each := make([]wire.StreamResult, len(s.logs))
	for i, t := range s.last {
		r := &each[i]
		if r.Bytes = t.Acked - s.base[i].Acked; bytes != nil {
			r.Bytes = bytes[i]
		}
		if total > 0 {
			r.GoodputBps = goodputBps * shares[i] / total
		}
		r.RetransmitRatio = t.retransmitRatio()
	}
	return each
}

// retransmitRatio is the share of the segments sent that were repeats, 0 to 1.
func (t totals) retransmitRatio() float64 {
	if t.segments == 0 {
		return 0
	}
	return min(1, float64(t.again)/float64(t.segments))
}

// check holds what a receiver says it counted against what it was offered, in
// bytes over so many streams: no honest one has more, or parts that are not the
// whole.
func (c *count) check(streams int, offered int64) error {
	var sum int64
	for _, n := range c.Streams {
		if n < 0 || n > c.Bytes {
			return fmt.Errorf("peer counts %d bytes of a stream, and %d of all", n, c.Bytes)
		}
		sum += n
	}
	switch {
	case c.Bytes < 0 || c.Bytes > offered:
		return fmt.Errorf("peer counts %d bytes of %d that were sent", c.Bytes, offered)
	case c.SpanUs < 0:
		return fmt.Errorf("peer counted for %d us", c.SpanUs)
	case len(c.Streams) != streams || sum != c.Bytes:
		return fmt.Errorf("peer counts %d bytes in %d of %d streams, and %d in all", sum, len(c.Streams), streams, c.Bytes)
	}
	return nil
}
