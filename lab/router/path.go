//go:build linux

package router

import (
	"math/rand/v2"
	"time"

	"github.com/antipode-bench/antipode/lab/world"
)

// path is the way from one region to another.
type path struct {
	delay, jitter time.Duration // one way, less the router's own cost
	flowBps       float64
	flowQueue     time.Duration // a round trip: a loss-based flow that has halved its window still fills the path
	hold          time.Duration // longer for what is to be overtaken
	policer       policer
	quirks        world.Quirks
	count         PairCount

	loss, reorder, duplicate lottery
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
		flowBps: w.FlowBps, flowQueue: 2 * delay, hold: milliseconds(w.ReorderMs),
		policer: newPolicer(w.PoliceBps, w.PoliceBurst()), quirks: w.Quirks,
		loss:      newLottery(w.LossRatio, w.LossBurst),
		reorder:   newLottery(w.ReorderRatio, 1),
		duplicate: newLottery(w.DuplicateRatio, 1),
	}
	return p
}

// alike is how many segments, from the next one on, the path treats alike, at
// least 1.
func (p *path) alike() int {
	return max(1, min(p.loss.until, p.reorder.until, p.duplicate.until))
}

// newFlowShaper holds one of the path's flows to its rate.
func (p *path) newFlowShaper() shaper {
	s := newShaper(p.flowBps, p.flowQueue)
	s.setQueue(milliseconds(p.quirks.QueueMs))
	return s
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(ms * float64(time.Millisecond))
}

// travel is how long one packet takes.
func (p *path) travel() time.Duration {
	d := p.delay
	if p.jitter > 0 {
		d += time.Duration((2*rand.Float64() - 1) * float64(p.jitter))
	}
	return max(0, d)
}
