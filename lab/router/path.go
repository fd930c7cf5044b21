//go:build linux

package router

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/antipode-bench/antipode/lab/world"
)

// path is the way from one region to another.
type path struct {
	delay, jitter time.Duration // one way, less the router's own cost
	flowBps       float64
	flowQueue     time.Duration // a round trip: a loss-based flow that has halved its window still fills the path
	loss          float64
	untilLoss     int // segments that pass before the next one is lost
	count         PairCount
}

// path returns the way between two regions, looked up once.
func (r *Router) path(from, to string) *path {
	key := [2]string{from, to}
	p := r.paths[key]
	if p == nil {
		p = newPath(r.world.Path(from, to), r.cost)
		p.count.From, p.count.To = from, to
		r.paths[key] = p
	}
	return p
}

func newPath(w world.Path, cost Cost) *path {
	delay := milliseconds(w.DelayMs)
	p := &path{
		delay: delay - cost.of(delay), jitter: milliseconds(w.JitterMs),
		flowBps: w.FlowBps, flowQueue: 2 * delay, loss: w.LossRatio,
	}
	p.drawLoss()
	return p
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(ms * float64(time.Millisecond))
}

// drawLoss draws how many segments pass before the next loss: the geometric
// distribution, which is what independent losses leave between each other.
func (p *path) drawLoss() {
	switch {
	case p.loss <= 0:
		p.untilLoss = math.MaxInt
	case p.loss >= 1:
		p.untilLoss = 0
	default:
		p.untilLoss = int(min(math.Log(1-rand.Float64())/math.Log1p(-p.loss), 1<<40))
	}
}

// travel is how long one packet takes.
func (p *path) travel() time.Duration {
	d := p.delay
	if p.jitter > 0 {
		d += time.Duration((2*rand.Float64() - 1) * float64(p.jitter))
	}
	return max(0, d)
}
