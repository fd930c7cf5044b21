package router

import (
	"math"
	"math/rand/v2"
)

// lottery draws segments of a path, each with the same chance.
type lottery struct {
	ratio float64 // of segments that are drawn, 0 to 1
	burst float64 // drawn in a row, on average; up to 1: each by itself
	until int     // segments that pass before the next one is drawn
	row   int     // segments that are drawn with that one, without a gap
}

func newLottery(ratio, burst float64) lottery {
	l := lottery{ratio: ratio, burst: burst}
	l.draw()
	return l
}

// hit draws the next segment if it is its turn.
func (l *lottery) hit() bool {
	if l.until > 0 {
		return false
	}
	l.draw()
	return true
}

// pass lets n segments pass, until at most.
func (l *lottery) pass(n int) { l.until -= n }

// draw looks for the next one. Independent draws leave gaps of a geometric
// distribution between each other. Bursts are the model of Gilbert (1960) with
// a bad state that takes everything: both states last geometrically long, and
// at least for one segment.
func (l *lottery) draw() {
	switch {
	case l.row > 0:
		l.row--
		l.until = 0
	case l.ratio <= 0:
		l.until = math.MaxInt
	case l.ratio >= 1:
		l.until = 0
	case l.burst <= 1:
		l.until = geometric(l.ratio)
	default:
		l.row = geometric(1 / l.burst)
		l.until = 1 + geometric(l.ratio/(l.burst*(1-l.ratio)))
	}
}

// geometric is the number of failures before the first success of chance p,
// above 0 and at most 1.
func geometric(p float64) int {
	return int(min(math.Log(1-rand.Float64())/math.Log1p(-p), 1<<40))
}
