package analysis

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Alpha is how likely a comparison of equals may report any pair at all.
const Alpha = 0.05

// testPair compares the repetitions of two sides as benchstat does: medians,
// and Mann-Whitney's test of whether they are of one distribution.
func testPair(base, other []float64) PairComparison {
	a, b := benchmath.NewSample(slices.Clone(base), &benchmath.DefaultThresholds), benchmath.NewSample(slices.Clone(other), &benchmath.DefaultThresholds)
	// Both medians are in their intervals, and so the ratio in its own, when each
	// interval alone is this sure.
	each := math.Sqrt(Confidence)
	sa, sb := benchmath.AssumeNothing.Summary(a, each), benchmath.AssumeNothing.Summary(b, each)
	p := PairComparison{
		BaseN: len(base), OtherN: len(other), BaseMedian: sa.Center, OtherMedian: sb.Center, Ratio: sb.Center / sa.Center,
		P: benchmath.AssumeNothing.Compare(a, b).P,
	}
	if low, high := sb.Lo/sa.Hi, sb.Hi/sa.Lo; sa.Lo > 0 && finite(sa.Lo, sa.Hi, sb.Lo, sb.Hi) {
		p.Low, p.High = &low, &high
	}
	p.PAdjusted = p.P
	return p
}

func finite(vs ...float64) bool {
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// leastP is the smallest p that so many repetitions can have: all of one side
// above all of the other.
func leastP(a, b int) float64 {
	l := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	return min(1, 2*math.Exp(l(a)+l(b)-l(a+b)))
}

// adjust corrects the p values for the number of pairs: Holm's method over the
// pairs that have repetitions enough to be told at all (R. E. Tarone, Biometrics
// 46 (1990), 515-522). It returns how many that are; 0 if none has.
func (c *MetricComparison) adjust(least []float64) (tested int) {
	sorted := slices.Sorted(slices.Values(least))
	// The smallest k that no more than k pairs could pass at Alpha / k.
	able := func(k int) int { return countUpTo(sorted, Alpha/float64(k)) }
	k := 1
	for k <= len(sorted) && able(k) > k {
		k++
	}
	tested = able(k)
	if tested == 0 {
		return 0
	}
	var places []int
	for i := range c.Pairs {
		if least[i] <= Alpha/float64(k) {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(i, j int) int { return cmp.Compare(c.Pairs[i].P, c.Pairs[j].P) })
	before := 0.0
	for rank, i := range places {
		p := &c.Pairs[i]
		before = max(before, min(1, p.P*float64(max(1, k-rank))))
		p.PAdjusted = before
	}
	return k
}

func countUpTo(sorted []float64, most float64) int {
	n, _ := slices.BinarySearchFunc(sorted, most, func(v, most float64) int {
		if v <= most {
			return -1
		}
		return 1
	})
	return n
}

// needed is how many repetitions of each side could tell so many pairs.
func needed(pairs int) int {
	n := 2
	for leastP(n, n)*float64(max(1, pairs)) > Alpha {
		n++
	}
	return n
}
