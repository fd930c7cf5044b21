package plan

import (
	"math"

	"golang.org/x/perf/benchmath"
)

// Repetition says how often pairs are measured. The zero value is once.
type Repetition struct {
	Times  int     `json:"times,omitempty"`  // so often; with Stable at most
	Stable float64 `json:"stable,omitempty"` // until the median of goodput is known within this ratio; 0: Times
}

// confidence of the interval of a median.
const confidence = 0.95

// LeastStable is how often a pair is measured at least before its median is
// known: the interval from the least to the greatest of five values, whatever
// their distribution, holds the median 15 times of 16, of six 31 times of 32.
const LeastStable = 6

// Most is how often a pair is measured at most.
func (r Repetition) Most() int { return max(r.Times, 1) }

// Enough reports whether a pair needs to be measured no more that has so many
// rows, and the goodputs of the good ones, in bit/s.
func (r Repetition) Enough(rows int, goodputs []float64) bool {
	return rows >= r.Most() || r.Stable > 0 && HalfWidth(goodputs) <= r.Stable
}

// HalfWidth is the longer side of the 95 % interval of the median, by order
// statistics, over the median; infinite if there are too few values for one.
func HalfWidth(values []float64) float64 {
	if len(values) < LeastStable {
		return math.Inf(1)
	}
	thresholds := benchmath.DefaultThresholds
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &thresholds), confidence)
	if !(s.Center > 0) {
		return math.Inf(1)
	}
	return max(s.Center-s.Lo, s.Hi-s.Center) / s.Center
}
