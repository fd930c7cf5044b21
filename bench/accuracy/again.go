//go:build linux

package main

import (
	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// What the probe would say today of a recorded test, so that a change of its
// rules is judged without measuring anything.

// ruleAgain plays the probe's rule on the ten-second test. It returns what the
// test would have cost and said; ok is false without a record.
func (r *record) ruleAgain() (bytes, bps float64, flags int, ok bool) {
	if r.Ten == nil || r.Ten.Result == nil || len(r.Ten.Result.Samples) < 2 {
		return 0, 0, 0, false
	}
	log, mss := r.Ten.Result.Samples, r.Ten.Result.MSSBytes
	rule := trace.NewRule(r.Path.Congestion, mss, 1, wantedError)
	for n := 2; n <= len(log); n++ {
		if rule.Enough(log[:n]) {
			part := rule.Part(log[:n])
			found := rule.Flags(log[:n], log[:n].Flags(part), true)
			return float64(log[n-1].Arrived()), 8 * log.Rate(part.From, part.To), len(found), true
		}
	}
	part := log.Steady()
	found := rule.Flags(log, log.Flags(part), false)
	return float64(log[len(log)-1].Arrived()), 8 * log.Rate(part.From, part.To), len(found), true
}

// limitAgain is what limited a recorded test by today's table; it is empty if
// the test's samples are not there. What two flows brought is as it was.
func (t *transfer) limitAgain() string {
	if t == nil || t.Result == nil || len(t.Result.Samples) < 2 {
		return ""
	}
	r := t.Result
	by := r.Samples.Limit(t.partAgain(), trace.Facts{
		CongestionControl: r.CongestionControl, MSS: r.MSSBytes, Streams: r.Streams,
		RateBps: r.Asked.RateBps, From: r.From, To: r.To,
	}).By
	if by == trace.LimitRateCap && r.LimitedBy == trace.LimitFlowCap {
		return trace.LimitFlowCap
	}
	return by
}

// partAgain is the part of a recorded test that its figures are of.
func (t *transfer) partAgain() trace.Part {
	r := t.Result
	if r.StoppedBy != wire.StoppedSteady {
		return r.Samples.Steady()
	}
	rule := trace.NewRule(r.CongestionControl, r.MSSBytes, r.Streams, wantedError)
	for n := 2; n <= len(r.Samples); n++ {
		if rule.Enough(r.Samples[:n]) {
			return rule.Part(r.Samples[:n])
		}
	}
	return r.Samples.Steady() // by other samples, or another rule, it would have gone on
}
