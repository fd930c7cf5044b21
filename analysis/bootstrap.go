package analysis

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/antipode-bench/antipode"
)

const (
	// Resamples of the regions give an interval whose ends waver by a few
	// hundredths of its width.
	Resamples = 1000
	// Confidence of every interval.
	Confidence = 0.95
	// MinRegions is the least number of regions, in each cloud of a group, that
	// an interval is given for: of fewer the draws hardly differ.
	MinRegions = 6
)

// draws holds how often each region of a group was drawn, resample by resample.
// Pairs that share a region are not independent, so what is drawn is regions,
// each cloud's for themselves, and a pair counts as often as its ends together:
// the pigeonhole bootstrap (A. B. Owen, Annals of Applied Statistics 1 (2007),
// 386-411). Of few regions its intervals are, as any bootstrap's, somewhat narrow.
type draws [][]float64 // by resample and region

// newDraws draws from the regions that the pairs name. It returns none where a
// cloud has too few of them.
func newDraws(regions []antipode.Region, pairs []Pair, rng *rand.Rand) draws {
	clouds := cloudsOf(regions, pairs)
	for _, own := range clouds {
		if len(own) < MinRegions {
			return nil
		}
	}
	if len(clouds) == 0 {
		return nil
	}
	all := make(draws, Resamples)
	for i := range all {
		all[i] = make([]float64, len(regions))
		for _, own := range clouds {
			for range own {
				all[i][own[rng.IntN(len(own))]]++
			}
		}
	}
	return all
}

// cloudsOf lists the regions that the pairs name, cloud by cloud.
func cloudsOf(regions []antipode.Region, pairs []Pair) (clouds [][]int) {
	named := make([]bool, len(regions))
	for _, p := range pairs {
		named[p.From], named[p.To] = true, true
	}
	last := ""
	for i, r := range regions { // sorted by cloud
		if !named[i] {
			continue
		}
		if len(clouds) == 0 || r.Cloud != last {
			clouds, last = append(clouds, nil), r.Cloud
		}
		clouds[len(clouds)-1] = append(clouds[len(clouds)-1], i)
	}
	return clouds
}

// weigh writes how often each pair counts in a resample.
func (c draws) weigh(resample int, pairs []Pair, weights []float64) {
	drawn := c[resample]
	for k, p := range pairs {
		weights[k] = drawn[p.From] * drawn[p.To]
	}
}

// estimate adds the interval of the resamples to a value. Resamples in which
// there was no such figure are NaN.
func estimate(value float64, resampled []float64) Estimate {
	e := Estimate{Value: value}
	known := slices.DeleteFunc(slices.Clone(resampled), math.IsNaN)
	if math.IsNaN(value) || len(known) < Resamples*9/10 {
		return e
	}
	slices.Sort(known)
	const tail = (1 - Confidence) / 2
	e.Low, e.High = new(quantile(known, tail)), new(quantile(known, 1-tail))
	return e
}

// quantile interpolates between the sorted values: type 7 of R. J. Hyndman and
// Y. Fan, The American Statistician 50 (1996), 361-365, as R and NumPy do. Package
// stat has types 1 and 4, whose median of two values is the lower one.
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := p * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
