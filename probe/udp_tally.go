//go:build linux

package probe

import (
	"errors"
	"math"
	"time"
)

const (
	// udpWindow is how far back, in datagrams, a receiver tells a late one from
	// a duplicate: seven seconds of five million per second. It costs 4 MB, of
	// which only what was used is touched.
	udpWindow = 1 << 25
	wordBits  = 64
)

// udpCount is what a receiver counted of a session. Datagrams and Bytes are of
// distinct ones; those of the First arrival came before the span began.
type udpCount struct {
	Datagrams      int64 `json:"datagrams"`
	Bytes          int64 `json:"bytes"` // UDP payload
	FirstDatagrams int64 `json:"first_datagrams"`
	FirstBytes     int64 `json:"first_bytes"`
	// Reordered counts datagrams that came after one sent later: RFC 4737,
	// section 3.
	Reordered  int64   `json:"reordered"`
	Duplicates int64   `json:"duplicates"`
	Ancient    int64   `json:"ancient"`   // so late that they could be either
	SpanNs     int64   `json:"span_ns"`   // first arrival to last
	JitterNs   float64 `json:"jitter_ns"` // RFC 3550, section 6.4.1

	AtNs int64 `json:"at_ns"` // when it was so, since the first arrival
	Next int64 `json:"next"`  // of datagrams by number, the highest that came and all before it
}

// check finds what no receiver can have counted of sent datagrams.
func (c udpCount) check(sent int64) error {
	for _, n := range []int64{c.Datagrams, c.Bytes, c.FirstDatagrams, c.FirstBytes, c.Reordered, c.Duplicates, c.Ancient, c.SpanNs, c.AtNs, c.Next} {
		if n < 0 {
			return errors.New("peer counted less than nothing")
		}
	}
	switch {
	case c.Datagrams > sent, c.Next > sent, c.Datagrams > c.Next, c.FirstDatagrams > c.Datagrams, c.FirstBytes > c.Bytes, c.Reordered > c.Datagrams,
		c.Bytes > c.Datagrams*maxDatagramBytes:
		return errors.New("peer counted more than was sent")
	case !(c.JitterNs >= 0 && c.JitterNs < math.MaxInt64):
		return errors.New("peer's jitter is no time")
	}
	return nil
}

// udpTally counts a session's datagrams as they arrive.
type udpTally struct {
	udpCount
	next    uint64   // the highest sequence number so far, plus one
	seen    []uint64 // bit set of the latest sequence numbers, a ring
	first   time.Duration
	transit time.Duration // of the arrival before
}

func newUDPTally() *udpTally { return &udpTally{seen: make([]uint64, udpWindow/wordBits)} }

// arrival takes what came in at one moment: datagrams of so many bytes each that
// the kernel delivered together, the first of which left at sent. The two times
// are of different clocks.
func (t *udpTally) arrival(sent, received time.Duration, seqs []uint64, bytes int) {
	before := t.Datagrams
	for _, seq := range seqs {
		if t.distinct(seq) {
			t.Datagrams++
		}
	}
	fresh := t.Datagrams - before
	if fresh == 0 {
		return
	}
	t.Bytes += fresh * int64(bytes)
	t.clock(before == 0, sent, received)
}

// clock takes the times of an arrival that brought something new.
func (t *udpTally) clock(first bool, sent, received time.Duration) {
	transit := received - sent
	if first {
		t.FirstDatagrams, t.FirstBytes, t.first = t.Datagrams, t.Bytes, received
	} else {
		change := transit - t.transit
		t.JitterNs += (math.Abs(float64(change)) - t.JitterNs) / 16
	}
	t.transit = transit
	t.SpanNs = max(t.SpanNs, int64(received-t.first))
}

// distinct is true for the first arrival of a sequence number; it counts the
// others, and those that came late.
func (t *udpTally) distinct(seq uint64) bool {
	word, bit := &t.seen[seq%udpWindow/wordBits], uint64(1)<<(seq%wordBits)
	switch {
	case seq == t.next:
		t.next++
	case seq > t.next:
		t.forget(t.next, seq)
		t.next = seq + 1
	case t.next-seq > udpWindow:
		t.Ancient++
		return false
	case *word&bit != 0:
		t.Duplicates++
		return false
	default:
		t.Reordered++
	}
	*word |= bit
	return true
}

// forget clears the bits of the sequence numbers from, which takes the place of
// one a window older, up to and without to.
func (t *udpTally) forget(from, to uint64) {
	if to-from >= udpWindow {
		clear(t.seen)
		return
	}
	for seq := from; seq < to; {
		word := &t.seen[seq%udpWindow/wordBits]
		if seq%wordBits == 0 && to-seq >= wordBits {
			*word = 0
			seq += wordBits
			continue
		}
		*word &^= 1 << (seq % wordBits)
		seq++
	}
}
