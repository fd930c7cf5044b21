package trace

import (
	"sort"
	"time"
)

// minRound keeps rounds of short paths long enough to hold a rate.
const minRound = 30 * time.Millisecond

// Log is a test as the sender saw it: samples in the order of time, the first
// at its start.
type Log []Sample

// AtMost thins a log to n samples or fewer, not closer to each other than every.
// It keeps the first and the last one.
func (l Log) AtMost(n int, every time.Duration) Log {
	if len(l) < 2 {
		return l
	}
	every = max(every, l[len(l)-1].At/time.Duration(n-1))
	thin := Log{l[0]}
	for _, s := range l[1 : len(l)-1] {
		// A ticker's sample a little early counts as on time.
		if s.At-thin[len(thin)-1].At >= every-every/20 && len(thin) < n-1 {
			thin = append(thin, s)
		}
	}
	return append(thin, l[len(l)-1])
}

// Rate is what arrived between two samples, in bytes per second.
func (l Log) Rate(from, to int) float64 {
	span := l[to].At - l[from].At
	if span <= 0 {
		return 0
	}
	return float64(l[to].Arrived()-l[from].Arrived()) / span.Seconds()
}

// Before is the last index at least n rounds before to, or 0.
func (l Log) Before(to, n int) int {
	from := to
	for from > 0 && l[to].At-l[from].At < time.Duration(n)*l.round(to) {
		from--
	}
	return from
}

// round is the length of a round at a sample: the smoothed round trip, or
// minRound if that is longer.
func (l Log) round(i int) time.Duration { return max(l[i].SRTT, minRound) }

// AckedAt is how many bytes were acknowledged in order at a moment, between two
// samples interpolated.
func (l Log) AckedAt(at time.Duration) float64 {
	i := sort.Search(len(l), func(i int) bool { return l[i].At >= at })
	switch {
	case i == len(l):
		return float64(l[i-1].Acked)
	case i == 0:
		return float64(l[0].Acked)
	}
	before, after := l[i-1], l[i]
	share := float64(at-before.At) / float64(after.At-before.At)
	return float64(before.Acked) + share*float64(after.Acked-before.Acked)
}

// EverySecond is the log without every second sample. It keeps the first.
func (l Log) EverySecond() Log {
	var half Log
	for i := 0; i < len(l); i += 2 {
		half = append(half, l[i])
	}
	return half
}
