//go:build linux

package probe

import (
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

const (
	// minRound keeps rounds of short paths long enough to hold a rate.
	minRound = 30 * time.Millisecond
	// growth of the rate from one round to the next that slow start must show:
	// it doubles, loss-free, and BBR's start-up gains at least as much.
	growth = 1.25
	// flatRounds without growth end slow start.
	flatRounds = 2
	// fewRounds are too few for a rate that wavers, as loss makes it.
	fewRounds = 5
	// stillGrowing is by how much the second half of a steady part may beat
	// the first.
	stillGrowing = 1.15
)

// sendSample is what the sender's kernel said of all streams of a test at one
// moment, added up, less what it said before the first byte of payload.
type sendSample struct {
	at     time.Duration // since the start
	acked  int64         // bytes acknowledged in order
	sacked int64         // bytes acknowledged beyond a hole, roughly
	srtt   time.Duration // smoothed round trip, mean of the streams
	busy   bool          // every stream has something to send
	whole  bool          // no stream has a hole or repairs one
}

// delivered counts what has arrived, in order or not.
func (s sendSample) delivered() int64 { return s.acked + s.sacked }

// sendLog is a test as the sender saw it.
type sendLog []sendSample

// part is the steady part of a log, as indices.
type part struct {
	from, to int
	over     bool // slow start ended before the test did
}

// steady chooses the part of a test to take its goodput from: from the end of
// slow start to the last moment at which every stream still had something to
// send. So neither the filling of the path nor its emptying counts, nor
// streams that have the path for themselves because others are done. Both ends
// go to a moment without holes where there is one near, because only then has
// the receiver's application seen all that has arrived.
//
// Is slow start never over, it is the last two rounds.
func (l sendLog) steady() part {
	p := part{to: l.lastBusy()}
	over := l.slowStartEnd(p.to)
	tail := l.before(p.to, flatRounds)
	if p.over = over >= 0; !p.over {
		p.from = tail
		return p
	}
	p.from = l.nextWhole(over, (p.to-over)/3)
	p.to = l.prevWhole(p.to, (p.to-p.from)/4)
	p.from = min(p.from, tail) // too short a rest: the flat rounds are steady as well
	return p
}

func (l sendLog) lastBusy() int {
	for i := len(l) - 1; i > 0; i-- {
		if l[i].busy {
			return i
		}
	}
	return 0
}

// slowStartEnd is the first index, at most to, at which the last two rounds
// brought less than 25 % a round over the two before; -1 if there is none. Two
// are taken together because what is sent in bursts, a round trip apart, may
// fall into one round or the next.
func (l sendLog) slowStartEnd(to int) int {
	for end := 1; end <= to; end++ {
		mid := l.before(end, flatRounds)
		start := l.before(mid, flatRounds)
		if start == 0 && l[mid].at < flatRounds*round(l[mid].srtt) {
			continue // the test is younger than four rounds
		}
		early, late := l.rate(start, mid), l.rate(mid, end)
		if early > 0 && late < early*growth*growth && l.rate(end, to) < late*growth {
			return end
		}
	}
	return -1
}

// before is the last index at least n rounds before to, or 0.
func (l sendLog) before(to, n int) int {
	from := to
	for from > 0 && l[to].at-l[from].at < time.Duration(n)*round(l[to].srtt) {
		from--
	}
	return from
}

func round(srtt time.Duration) time.Duration { return max(srtt, minRound) }

// rate is in bytes per second.
func (l sendLog) rate(from, to int) float64 {
	span := l[to].at - l[from].at
	if span <= 0 {
		return 0
	}
	return float64(l[to].delivered()-l[from].delivered()) / span.Seconds()
}

func (l sendLog) nextWhole(from, within int) int {
	for i := from; i <= from+within && i < len(l); i++ {
		if l[i].whole {
			return i
		}
	}
	return from
}

func (l sendLog) prevWhole(to, within int) int {
	for i := to; i >= to-within && i >= 0; i-- {
		if l[i].whole {
			return i
		}
	}
	return to
}

// whole is true when nothing was missing at either end of the part: in-order
// bytes are then all there is.
func (l sendLog) whole(p part) bool { return l[p.from].whole && l[p.to].whole }

// flags say what makes the rate of a part doubtful.
func (l sendLog) flags(p part) (flags []string) {
	if !p.over {
		return []string{wire.FlagSlowStart}
	}
	if l[p.to].at-l[p.from].at < fewRounds*round(l[p.to].srtt) {
		flags = append(flags, wire.FlagFewRounds)
	}
	mid := (p.from + p.to) / 2
	if l.rate(mid, p.to) > stillGrowing*l.rate(p.from, mid) {
		flags = append(flags, wire.FlagGrowing)
	}
	return flags
}
