//go:build linux

package main

import "math"

const (
	segmentBytes = 1448 // payload of a full one
	unlucky      = 1.5  // times the mean: how fast a flow may be that losses regulate
)

// expectedBps is about as fast as a transfer on the path can be: what has to be
// kept free for it while others run.
func (p Path) expectedBps() float64 {
	bps := p.capBps()
	if p.RateBps > 0 {
		bps = min(bps, p.RateBps)
	}
	rtt := p.RTTMs / 1000
	for _, buffer := range []int{orStock(p.ReceiveBytes, stockReceiveBytes), orStock(p.SendBytes, stockSendBytes)} {
		bps = min(bps, 8*float64(buffer)/rtt)
	}
	if p.Congestion != "bbr" && p.LossRatio > 0 {
		bps = min(bps, unlucky*8*segmentBytes*cubicWindow(p.LossRatio, rtt)/rtt)
	}
	return bps
}

// cubicWindow is CUBIC's mean window, in segments, at a loss ratio and a round
// trip in seconds (RFC 9438, section 5.1), or in its Reno-friendly region that
// of Reno.
func cubicWindow(loss, rtt float64) float64 {
	return max(1.054*math.Pow(rtt/loss, 0.75), math.Sqrt(1.5/loss))
}
