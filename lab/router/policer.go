package router

import "time"

// policer holds traffic to a rate by dropping what is above it: a token bucket
// without a queue, full at the beginning.
type policer struct {
	bps    float64 // 0 is no limit
	burst  float64 // bytes
	tokens float64 // bytes
	last   time.Duration
}

func newPolicer(bps, burst float64) policer {
	return policer{bps: bps, burst: burst, tokens: burst}
}

// room is how many bytes pass at a time; limited is false if any.
func (p *policer) room(at time.Duration) (n int, limited bool) {
	if p.bps == 0 {
		return 0, false
	}
	if at > p.last { // what overtook a queue may come before what waited in it
		p.tokens = min(p.burst, p.tokens+(at-p.last).Seconds()*p.bps/8)
		p.last = at
	}
	return int(p.tokens), true
}

// take has n bytes pass.
func (p *policer) take(n int) { p.tokens -= float64(n) }
