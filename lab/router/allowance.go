package router

import "time"

// allowance is what a machine may send or receive in the long run, beside the
// rate of its link: a token bucket, full at the beginning. Like a shaper it
// keeps no tokens, only a time: that at which they will have been earned which
// are spent. The zero allowance is no limit.
type allowance struct {
	bps   float64
	depth time.Duration // that it takes to fill it
	free  time.Duration
}

func newAllowance(bps, bytes float64) allowance {
	a := allowance{bps: bps}
	if bps > 0 {
		a.depth = time.Duration(bytes * 8 / bps * float64(time.Second))
		a.free = -a.depth
	}
	return a
}

// room is how many bytes may come at a time of which none waits for longer
// than the queue lasts; limited is false if any.
func (a *allowance) room(at, queue time.Duration) (n int, limited bool) {
	if a.bps == 0 {
		return 0, false
	}
	left := queue + at - max(a.free, at-a.depth)
	return int(left.Seconds() * a.bps / 8), true
}

// take spends n bytes at a time and returns when they are all earned.
func (a *allowance) take(at time.Duration, n int) time.Duration {
	if a.bps == 0 {
		return at
	}
	a.free = max(a.free, at-a.depth) + time.Duration(float64(n)*8/a.bps*float64(time.Second))
	return max(at, a.free)
}
