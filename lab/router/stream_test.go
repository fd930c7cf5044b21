package router

import (
	"math/rand/v2"
	"testing"
)

func TestStreamCountsEachByteOnce(t *testing.T) {
	type piece struct {
		seq uint32
		n   int
	}
	for name, c := range map[string]struct {
		pieces []piece
		want   int64
	}{
		"in order":         {[]piece{{1, 100}, {101, 100}}, 200},
		"again":            {[]piece{{1, 100}, {1, 100}, {51, 10}}, 100},
		"overlapping":      {[]piece{{1, 100}, {51, 100}}, 150},
		"a hole":           {[]piece{{1, 100}, {201, 100}}, 200},
		"a hole filled":    {[]piece{{1, 100}, {201, 100}, {101, 100}, {301, 1}}, 301},
		"again beyond it":  {[]piece{{201, 100}, {201, 100}, {251, 100}}, 150},
		"holes bridged":    {[]piece{{101, 50}, {201, 50}, {301, 50}, {91, 400}}, 400},
		"touching":         {[]piece{{201, 50}, {251, 50}, {151, 50}}, 150},
		"a probe of zero":  {[]piece{{1, 100}, {100, 0}, {100, 1}}, 100},
		"out of order all": {[]piece{{301, 100}, {201, 100}, {101, 100}, {1, 100}}, 400},
	} {
		for _, isn := range []uint32{0, 1 << 31, 1<<32 - 150} {
			var s stream
			s.open(isn)
			for _, p := range c.pieces {
				s.deliver(isn+p.seq, p.n)
			}
			if s.bytes != c.want {
				t.Errorf("%s from %d: %d bytes, want %d", name, isn, s.bytes, c.want)
			}
		}
	}
}

func TestStreamAgreesWithABitmap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const size = 5000
	for range 50 {
		var s stream
		var seen [size]bool
		s.open(1<<32 - size/2)
		for range 300 {
			from := random.IntN(size)
			n := random.IntN(size-from) / 8
			s.deliver(1<<32-size/2+1+uint32(from), n)
			for i := from; i < from+n; i++ {
				seen[i] = true
			}
			var want int64
			for _, there := range seen {
				if there {
					want++
				}
			}
			if s.bytes != want {
				t.Fatalf("%d bytes, want %d", s.bytes, want)
			}
		}
	}
}

func TestStreamIsBounded(t *testing.T) {
	var s stream
	s.open(0)
	for i := range uint32(2 * maxAhead) {
		s.deliver(2+2*i, 1)
	}
	if len(s.ahead) != maxAhead || s.bytes != 2*maxAhead {
		t.Errorf("%d spans of %d bytes", len(s.ahead), s.bytes)
	}
}

func TestStreamBeginsAgain(t *testing.T) {
	var s stream
	s.deliver(77, 10) // its opening was before the router's time
	s.open(5)
	s.deliver(6, 10)
	s.open(5)
	s.deliver(6, 10)
	if s.bytes != 30 {
		t.Errorf("%d bytes, want 30", s.bytes)
	}
}
