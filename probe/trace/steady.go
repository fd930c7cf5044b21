package trace

const (
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

// Flags of a test's figures.
const (
	// FlagSlowStart: the test ended before slow start was over. The goodput is
	// the rate of its last rounds, a lower bound of what the path carries.
	FlagSlowStart = "slow-start"
	// FlagGrowing: the rate still grew in the steady part, so it is a lower
	// bound of what the path carries.
	FlagGrowing = "growing"
	// FlagFewRounds: the steady part has fewer than five round trips; a rate
	// that wavers is not well known from it.
	FlagFewRounds = "few-rounds"
	// FlagPartial: the test was cut short; the figures are of what was seen.
	FlagPartial = "partial"
)

// Part is a part of a log, as indices.
type Part struct {
	From, To int
	Over     bool // slow start ended before the test did
}

// Steady chooses the part of a test to take its goodput from: from the end of
// slow start to the last moment at which every stream still had something to
// send. So neither the filling of the path nor its emptying counts, nor
// streams that have the path for themselves because others are done. Both ends
// go to a moment without holes where there is one near, because only then has
// the receiver's application seen all that has arrived.
//
// Is slow start never over, it is the last two rounds.
func (l Log) Steady() Part {
	p := Part{To: l.lastFed()}
	over := l.slowStartEnd(p.To)
	tail := l.Before(p.To, flatRounds)
	if p.Over = over >= 0; !p.Over {
		p.From = tail
		return p
	}
	p.From = l.nextWhole(over, (p.To-over)/3)
	p.To = l.prevWhole(p.To, (p.To-p.From)/4)
	p.From = min(p.From, tail) // too short a rest: the flat rounds are steady as well
	return p
}

func (l Log) lastFed() int {
	for i := len(l) - 1; i > 0; i-- {
		if l[i].Fed {
			return i
		}
	}
	return 0
}

// slowStartEnd is the first index, at most to, at which the last two rounds
// brought less than 25 % a round over the two before; -1 if there is none. Two
// are taken together because what is sent in bursts, a round trip apart, may
// fall into one round or the next.
func (l Log) slowStartEnd(to int) int {
	for end := 1; end <= to; end++ {
		mid := l.Before(end, flatRounds)
		start := l.Before(mid, flatRounds)
		if start == 0 && l[mid].At < flatRounds*l.round(mid) {
			continue // the test is younger than four rounds
		}
		early, late := l.Rate(start, mid), l.Rate(mid, end)
		if early > 0 && late < early*growth*growth && l.Rate(end, to) < late*growth {
			return end
		}
	}
	return -1
}

func (l Log) nextWhole(from, within int) int {
	for i := from; i <= from+within && i < len(l); i++ {
		if l[i].Whole {
			return i
		}
	}
	return from
}

func (l Log) prevWhole(to, within int) int {
	for i := to; i >= to-within && i >= 0; i-- {
		if l[i].Whole {
			return i
		}
	}
	return to
}

// Whole is true when nothing was missing at either end of the part: in-order
// bytes are then all there is.
func (l Log) Whole(p Part) bool { return l[p.From].Whole && l[p.To].Whole }

// Flags say what makes the rate of a part doubtful.
func (l Log) Flags(p Part) (flags []string) {
	if !p.Over {
		return []string{FlagSlowStart}
	}
	if l[p.To].At-l[p.From].At < fewRounds*l.round(p.To) {
		flags = append(flags, FlagFewRounds)
	}
	mid := (p.From + p.To) / 2
	if l.Rate(mid, p.To) > stillGrowing*l.Rate(p.From, mid) {
		flags = append(flags, FlagGrowing)
	}
	return flags
}
