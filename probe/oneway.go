//go:build linux

package probe

import (
	"slices"
	"time"
)

// oneWay is a delay from this machine to the peer. The truth is within errorBound
// of it.
type oneWay struct{ delay, errorBound time.Duration }

// frequencyTolerance is how much faster or slower than time a clock runs (RFC
// 5905, PHI).
const frequencyTolerance = 15e-6

// oneWayDelay is the median of the queries' delays, by the kernels' stamps. Two
// machines' clocks differ, and the stamps bound by how much: over a round trip of
// r the difference is known to r/2, of the shortest round trip best (RFC 5905,
// section 8), and they drift apart by what clocks may. Where the time daemons of both machines promise better
// (clocks is the sum of their bounds, 0 if there is none), and the stamps don't
// belie them, the clocks are taken as they are. False without stamps, or if a
// clock was set.
func oneWayDelay(trips []trip, clocks time.Duration) (oneWay, bool) {
	if len(trips) == 0 || trips[len(trips)-1].setSince(trips[0]) {
		return oneWay{}, false
	}
	var forth []time.Duration // with the difference of the clocks in it
	best, offset := time.Duration(0), time.Duration(0)
	for _, t := range trips {
		rtt, ok := t.byKernel()
		if !t.answered || !ok || t.there == 0 {
			continue
		}
		forward := time.Duration(t.there - t.left)
		forth = append(forth, forward)
		if best == 0 || rtt < best {
			best, offset = rtt, forward-rtt/2
		}
	}
	if best <= 0 {
		return oneWay{}, false
	}
	slices.Sort(forth)
	median := forth[len(forth)/2]
	// The stamps allow the clocks' difference to be offset ± best/2.
	if clocks > 0 && clocks < best/2 && offset.Abs() <= best/2+clocks {
		return oneWay{max(0, median), clocks}, true
	}
	drift := time.Duration(2 * frequencyTolerance * float64(trips[len(trips)-1].sent.mono-trips[0].sent.mono))
	return oneWay{max(0, median-offset), best/2 + drift}, true
}

// setSince says whether the wall clock was set between a probe and a later one.
func (t trip) setSince(first trip) bool { return t.sent.setSince(first.sent) }
