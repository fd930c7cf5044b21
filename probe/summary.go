//go:build linux

package probe

import (
	"math"
	"slices"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// summarize describes a test; last is the responder's last word, nil if it has
// not spoken.
func (t *trips) summarize(last *lastWord) *wire.RTTResult {
	t.hold(last)
	trips := t.probes[:t.sent]
	r := describeTrips(trips, last.sending())
	if last == nil {
		return r
	}
	r.Counts = t.counts(last)
	if way, ok := oneWayDelay(trips, last.clocks()); ok && r.Stamps == wire.StampsKernel && !last.ClockSet {
		r.OneWay = &wire.OneWay{DelayMs: inMs(way.delay), ErrorMs: inMs(way.errorBound)}
	}
	return r
}

// hold notes how long the responder held each query.
func (t *trips) hold(last *lastWord) {
	if last == nil {
		return
	}
	for i := range min(t.sent, len(last.held)) {
		t.probes[i].held = time.Duration(last.held[i])
	}
}

// counts joins what both sides counted. None can be negative: the responder's
// answers are checked to be no more than the queries, and its queries answered
// no fewer than the answers that came.
func (t *trips) counts(last *lastWord) *wire.RTTCounts {
	return &wire.RTTCounts{
		LostForward:  t.sent - max(last.Answered, t.received+t.late),
		LostBackward: max(0, last.Answered-t.received-t.late),
		Late:         t.late,
		Reordered:    last.Reordered + t.order.reordered,
		Duplicates:   last.Duplicates + t.duplicates,
	}
}

// describeTrips gives the figures of trips, all sent; there is as in times.
func describeTrips(trips []trip, there time.Duration) *wire.RTTResult {
	rtts, sending, stamps := times(trips, there)
	users := collect(trips, trip.byUser)
	n := len(users)
	r := &wire.RTTResult{Probes: len(trips), Received: n, LossRatio: float64(len(trips)-n) / float64(len(trips)), Stamps: stamps}
	if n == 0 {
		return r
	}
	ms := allInMs(rtts)
	r.MinMs, r.P50Ms, r.P99Ms = ms[0], quantile(ms, .50), quantile(ms, .99)
	r.MeanMs, r.StddevMs = spread(ms)
	r.SendingMs = inMs(sending)
	ms = allInMs(users)
	r.UserP50Ms, r.UserP99Ms = quantile(ms, .50), quantile(ms, .99)
	return r
}

// spread is the mean and the sample's standard deviation, 0 for a single value.
func spread(values []float64) (mean, deviation float64) {
	n := float64(len(values))
	for _, x := range values {
		mean += x / n
	}
	if n < 2 {
		return mean, 0
	}
	var sum float64
	for _, x := range values {
		sum += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sum / (n - 1))
}

// quantile interpolates between the neighbours of q*(n-1): type 7 of Hyndman
// and Fan, "Sample Quantiles in Statistical Packages", 1996.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// median is 0 of nothing.
func median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return time.Duration(math.Round(quantile(floats(sorted), .5)))
}

func floats(times []time.Duration) []float64 {
	var all []float64
	for _, t := range times {
		all = append(all, float64(t))
	}
	return all
}

func allInMs(times []time.Duration) []float64 {
	var all []float64
	for _, t := range times {
		all = append(all, inMs(t))
	}
	return all
}

func inMs(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
