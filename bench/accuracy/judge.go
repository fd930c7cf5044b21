//go:build linux

package main

import (
	"math"
	"slices"
	"time"
)

// errorRatio is how far off a figure is, 0 or more.
func errorRatio(got, want float64) float64 { return math.Abs(got/want - 1) }

// quantile takes the nearest rank of a sample; NaN of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(0, rank)]
}

// share of a part; NaN of nothing.
func share(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}

// rttErrorsMs are how far the round trips' medians are off.
func rttErrorsMs(records []*record) (errs []float64) {
	for _, r := range records {
		if r.RTT != nil {
			errs = append(errs, math.Abs(r.RTT.P50Ms-r.Path.RTTMs))
		}
	}
	return errs
}

// steadyError is how far a transfer's goodput is from what the router delivered
// in the interval that the probe calls steady; ok is false without one.
func (t *transfer) steadyError() (err float64, ok bool) {
	if t == nil || t.Result == nil || t.Result.SteadyS == 0 {
		return 0, false
	}
	begin := seconds(t.Result.SlowStartS)
	carried := t.Carried.bps(begin, begin+seconds(t.Result.SteadyS))
	return errorRatio(t.Result.GoodputBps, carried), carried > 0
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// steadyErrors are of one of the two tests of every record.
func steadyErrors(records []*record, test func(*record) *transfer) (errs []float64) {
	for _, r := range records {
		if err, ok := test(r).steadyError(); ok {
			errs = append(errs, err)
		}
	}
	return errs
}

// datagramTally is how many UDP tests agree with the router, and by how many
// datagrams one of the others is off.
type datagramTally struct {
	tests, lost, reordered, duplicated int
	worst                              int64
}

// tallyDatagrams compares what the receiver counted with what the router did to
// the flow. The router counts the few packets too that open a test, before the
// probe numbers any: what became of these is no difference.
func tallyDatagrams(records []*record) (t datagramTally) {
	for _, r := range records {
		if r.UDP == nil {
			continue
		}
		got, flow := r.UDP.Result, r.UDP.Flow
		t.tests++
		opening := max(0, flow.Sent-got.Sent)
		for _, c := range []struct {
			more  int64 // that the router counted
			equal *int
		}{
			{flow.Lost() - (got.Sent - got.Received), &t.lost},
			{flow.Reordered - got.Reordered, &t.reordered},
			{flow.Duplicated - got.Duplicates, &t.duplicated},
		} {
			if c.more >= 0 && c.more <= opening {
				*c.equal++
			} else {
				t.worst = max(t.worst, c.more, -c.more)
			}
		}
	}
	return t
}

// verdict is whether limited_by was right.
type verdict struct {
	record *record
	causes []string
	said   string
	right  bool // one of the causes
	alike  bool // taking a cap of the flow for one of the machine
}

// verdicts judge what was said of one of the tests wherever the causes are known. Paths of
// which no constraint binds have none, and are left out.
func verdicts(records []*record, saying func(*record) string) (list []verdict) {
	for _, r := range records {
		causes, ok := r.causes()
		said := saying(r)
		if !ok || said == "" || len(causes) == 0 {
			continue
		}
		v := verdict{record: r, causes: causes, said: said}
		policed := r.Path.PoliceBps > 0 && r.Path.Congestion != "bbr" && slices.Contains(causes, "rate-cap")
		v.right = slices.Contains(causes, v.said) || policed && v.said == "loss"
		v.alike = v.right || isCap(v.said) && slices.ContainsFunc(causes, isCap)
		list = append(list, v)
	}
	return list
}

// limitedBy is what a test said; empty without one.
func (t *transfer) limitedBy() string {
	if t == nil || t.Result == nil {
		return ""
	}
	return t.Result.LimitedBy
}

func isCap(cause string) bool { return cause == "rate-cap" || cause == "flow-cap" }

// stopping is how a rule did on many paths.
type stopping struct {
	name      string
	bytes     float64   // of ten seconds', over all paths
	nearBytes float64   // the same, over steady paths below 100 ms
	errors    []float64 // of all results
	unflagged []float64 // errors of those without a flag
}

const nearRTTMs = 100

// judgeRule plays a rule on the long tests.
func judgeRule(records []*record, r rule) stopping {
	return judge(records, r.name, func(rec *record) (bytes, bps float64, flags int, ok bool) {
		s := r.end(rec.Long.Carried, rec.Path.rtt())
		return rec.Long.Carried.bytesAt(s.at), s.bps, 0, true
	})
}

// judgeProbe takes what the adaptive tests were in fact.
func judgeProbe(records []*record) stopping {
	return judge(records, "the probe", func(rec *record) (bytes, bps float64, flags int, ok bool) {
		if rec.Adaptive == nil || rec.Adaptive.Result == nil {
			return 0, 0, 0, false
		}
		got := rec.Adaptive.Result
		return float64(got.Bytes), got.GoodputBps, len(got.Flags), true
	})
}

// judgeChecked is the same with what the check of a second flow sent, which no
// other figure has in it.
func judgeChecked(records []*record) stopping {
	return judge(records, "the probe, with its second flow", func(rec *record) (bytes, bps float64, flags int, ok bool) {
		if rec.Adaptive == nil || rec.Adaptive.Result == nil {
			return 0, 0, 0, false
		}
		got := rec.Adaptive.Result
		bytes = float64(got.Bytes)
		if got.FlowCheck != nil {
			bytes += float64(got.FlowCheck.Bytes)
		}
		return bytes, got.GoodputBps, len(got.Flags), true
	})
}

func judge(records []*record, name string, end func(*record) (bytes, bps float64, flags int, ok bool)) stopping {
	s := stopping{name: name}
	var spent, whole, nearSpent, nearWhole float64
	for _, r := range records {
		if r.Long == nil || r.Long.Carried.end() < fullTest*9/10 {
			continue
		}
		bytes, bps, flags, ok := end(r)
		if !ok {
			continue
		}
		ten := r.Long.Carried.bytesAt(fullTest)
		spent, whole = spent+bytes, whole+ten
		if r.Path.RTTMs < nearRTTMs && steadyPath(r.Long.Carried) {
			nearSpent, nearWhole = nearSpent+bytes, nearWhole+ten
		}
		off := errorRatio(bps, reference(r.Long.Carried))
		s.errors = append(s.errors, off)
		if flags == 0 {
			s.unflagged = append(s.unflagged, off)
		}
	}
	s.bytes, s.nearBytes = share(spent, whole), share(nearSpent, nearWhole)
	return s
}

// within is the share of errors up to a limit.
func within(errs []float64, limit float64) float64 {
	n := 0
	for _, e := range errs {
		if e <= limit {
			n++
		}
	}
	return share(float64(n), float64(len(errs)))
}
