package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
)

// column is one figure of a group's rows, laid out for statistics: the rows
// that are ok and have it, and the medians of their pairs. Pairs without the
// figure are not in it.
type column struct {
	pairs        []Pair
	kms, medians []float64
	moments      []moments // of y less shift
	shift        float64
	rowKms, rowY []float64
	absent       int // rows that are ok but lack figure or distance
}

// newColumn takes the figure of the group's rows; NaN is none.
func newColumn(d *Data, g group, figure func(Obs) float64, ofPair func(PairMedian) float64) *column {
	c := &column{}
	place := make([]int, len(d.Pairs)) // in the column, from 1
	for _, i := range g.pairs {
		y := ofPair(d.medians[i])
		if math.IsNaN(y) || math.IsNaN(d.Pairs[i].Km) {
			continue
		}
		place[i] = len(c.pairs) + 1
		c.pairs, c.kms, c.medians = append(c.pairs, d.Pairs[i]), append(c.kms, d.Pairs[i].Km), append(c.medians, y)
	}
	if len(c.pairs) > 0 {
		c.shift = c.medians[0]
	}
	c.moments = make([]moments, len(c.pairs))
	for _, k := range g.obs {
		o := d.Obs[k]
		at, y := place[o.Pair]-1, figure(o)
		switch {
		case o.Status != OK:
		case at < 0 || math.IsNaN(y):
			c.absent++
		default:
			c.moments[at].add(y - c.shift)
			c.rowKms, c.rowY = append(c.rowKms, c.kms[at]), append(c.rowY, y)
		}
	}
	return c
}

// noFit says why there can be no line, or nothing.
func (c *column) noFit() string {
	switch {
	case len(c.pairs) < MinPoints:
		return fmt.Sprintf("too few pairs for a line (%d needed)", MinPoints)
	case constant(c.kms):
		return "all distances are the same"
	case constant(c.rowY) || constant(c.medians):
		return "all values are the same"
	}
	return ""
}

// relation fits the column; the draws give the intervals, if there are any.
func (c *column) relation(all draws, rng *rand.Rand) Relation {
	rel := Relation{N: len(c.rowY), Absent: c.absent, PairMedians: len(c.pairs), NoFit: c.noFit()}
	if rel.NoFit != "" {
		return rel
	}
	weights := make([]float64, len(c.pairs))
	fill(weights, 1)
	ranks := newSpearman(c.kms, c.medians)
	slopes, sampled := slopes(c.kms, c.medians, rng)
	rho, sen := ranks.rho(weights), medianSlope(slopes, weights)
	r := stat.Correlation(c.rowKms, c.rowY, nil)
	intercept, least := stat.LinearRegression(c.rowKms, c.rowY, nil, false)

	some := thinned(slopes)
	var rs, leasts, rhos, sens []float64
	for i := range all {
		all.weigh(i, c.pairs, weights)
		slope, r := line(c.kms, c.moments, weights)
		rs, leasts = append(rs, r), append(leasts, slope)
		rhos, sens = append(rhos, ranks.rho(weights)), append(sens, medianSlope(some, weights))
	}
	rel.Pearson, rel.Spearman = new(estimate(r, rs)), new(estimate(rho, rhos))
	rel.LeastSquares = &Line{intercept, estimate(least, leasts)}
	rel.TheilSen = &Line{c.robustIntercept(sen), estimate(sen, sens)}
	rel.Slopes, rel.Sampled = len(slopes), sampled
	if all == nil {
		rel.Caution = fmt.Sprintf("no intervals: they need at least %d regions of each cloud", MinRegions)
	}
	return rel
}

// robustIntercept leaves as many points above the line as below.
func (c *column) robustIntercept(slope float64) float64 {
	rests := make([]float64, len(c.kms))
	for k, km := range c.kms {
		rests[k] = c.medians[k] - slope*km
	}
	return median(rests)
}

func fill(s []float64, v float64) {
	for i := range s {
		s[i] = v
	}
}
