package analysis

import (
	"math"
	"slices"

	"github.com/antipode-bench/antipode"
)

// InflationKm is the least distance of which the ratio of RTT to the light
// floor says something: nearer, what is measured is not the way.
const InflationKm = 100

// quantiles are those of a figure of the medians of pairs; NaN is none.
func quantiles(d *Data, pairs []int, all draws, figure func(Pair, PairMedian) float64) Quantiles {
	var kept []Pair
	var values []float64
	for _, i := range pairs {
		if v := figure(d.Pairs[i], d.medians[i]); !math.IsNaN(v) {
			kept, values = append(kept, d.Pairs[i]), append(values, v)
		}
	}
	if len(values) == 0 {
		return Quantiles{}
	}
	order := newRanking(values)
	weights := make([]float64, len(kept))
	var medians []float64
	for i := range all {
		all.weigh(i, kept, weights)
		medians = append(medians, weightedMedian(order, values, weights))
	}
	slices.Sort(values)
	at := func(p float64) float64 { return quantile(values, p) }
	return Quantiles{
		N: len(values), Min: at(0), P10: at(0.1), P25: at(0.25), Median: estimate(at(0.5), medians),
		P75: at(0.75), P90: at(0.9), P99: at(0.99), Max: at(1),
	}
}

// inflation is how many times light's round trip in fibre the pair's takes.
func inflation(p Pair, m PairMedian) float64 {
	if !(p.Km >= InflationKm) {
		return math.NaN()
	}
	return m.RTTMs / antipode.FibreRTTMs(p.Km)
}
