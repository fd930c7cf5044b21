//go:build linux

package probe

import (
	"math"
	"slices"

	"github.com/antipode-bench/antipode/probe/wire"
)

// summarize describes the round trips, in ms, of those of sent probes that
// were answered. The standard deviation is the sample's, 0 for a single one.
func summarize(sent int, rtts []float64) *wire.RTTResult {
	n := len(rtts)
	r := &wire.RTTResult{Probes: sent, Received: n, LossRatio: float64(sent-n) / float64(sent)}
	if n == 0 {
		return r
	}
	slices.Sort(rtts)
	r.MinMs, r.P50Ms, r.P99Ms = rtts[0], quantile(rtts, .50), quantile(rtts, .99)
	for _, x := range rtts {
		r.MeanMs += x / float64(n)
	}
	if n > 1 {
		var sum float64
		for _, x := range rtts {
			sum += (x - r.MeanMs) * (x - r.MeanMs)
		}
		r.StddevMs = math.Sqrt(sum / float64(n-1))
	}
	return r
}

// quantile interpolates between the neighbours of q*(n-1): type 7 of Hyndman
// and Fan, "Sample Quantiles in Statistical Packages", 1996.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
