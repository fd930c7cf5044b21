package router

import (
	"cmp"
	"slices"
)

// maxAhead bounds what is remembered of one stream. When there are more holes,
// what is farthest ahead is forgotten, and counted again if it comes again.
const maxAhead = 4096

// stream counts the bytes of one direction of a TCP connection that were
// delivered, each once. Positions are sequence numbers, extended to 64 bits.
type stream struct {
	bytes int64
	begun bool
	next  int64  // all before it are there
	ahead []span // beyond a hole: ascending, with gaps between
}

// span is a part of a stream, from its first byte to before its end.
type span struct{ from, to int64 }

// open begins a connection: its SYN has the sequence number. It may be the next
// of the same ports.
func (s *stream) open(seq uint32) {
	s.begun, s.next, s.ahead = true, int64(seq)+1, nil
}

// deliver counts n bytes from a sequence number on.
func (s *stream) deliver(seq uint32, n int) {
	if !s.begun {
		s.begun, s.next = true, int64(seq)
	}
	from := s.next + int64(int32(seq-uint32(s.next)))
	s.insert(span{max(from, s.next), from + int64(n)})
}

func (s *stream) insert(b span) {
	if b.from >= b.to {
		return
	}
	i, _ := slices.BinarySearchFunc(s.ahead, b.from, func(a span, from int64) int { return cmp.Compare(a.to, from) })
	end := i
	s.bytes += b.to - b.from
	for ; end < len(s.ahead) && s.ahead[end].from <= b.to; end++ {
		a := s.ahead[end]
		s.bytes -= min(a.to, b.to) - max(a.from, b.from) // counted before
		b = span{min(a.from, b.from), max(a.to, b.to)}
	}
	if b.from > s.next {
		s.ahead = slices.Replace(s.ahead, i, end, b)
		s.ahead = s.ahead[:min(len(s.ahead), maxAhead)]
		return
	}
	s.next = b.to
	s.ahead = slices.Delete(s.ahead, i, end)
}
