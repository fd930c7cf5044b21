package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// ranking is the order of some values, with equal ones together.
type ranking struct {
	order []int
	ties  []int // ends of the runs of equal values in order
}

func newRanking(values []float64) ranking {
	r := ranking{order: make([]int, len(values))}
	for i := range r.order {
		r.order[i] = i
	}
	slices.SortFunc(r.order, func(i, j int) int { return cmp.Or(cmp.Compare(values[i], values[j]), i-j) })
	for k := range r.order {
		if k+1 == len(r.order) || values[r.order[k]] != values[r.order[k+1]] {
			r.ties = append(r.ties, k+1)
		}
	}
	return r
}

// ranks writes the middle rank of each value, as if it were there as often as
// its weight says.
func (r ranking) ranks(weights, ranks []float64) {
	var below float64
	from := 0
	for _, to := range r.ties {
		var here float64
		for _, i := range r.order[from:to] {
			here += weights[i]
		}
		for _, i := range r.order[from:to] {
			ranks[i] = below + here/2
		}
		below += here
		from = to
	}
}

// spearman is the correlation of ranks.
type spearman struct {
	x, y           ranking
	xRanks, yRanks []float64
}

func newSpearman(xs, ys []float64) *spearman {
	return &spearman{newRanking(xs), newRanking(ys), make([]float64, len(xs)), make([]float64, len(ys))}
}

func (s *spearman) rho(weights []float64) float64 {
	s.x.ranks(weights, s.xRanks)
	s.y.ranks(weights, s.yRanks)
	return stat.Correlation(s.xRanks, s.yRanks, weights)
}

// MaxSlopes is how many slopes a Theil-Sen fit takes the median of. Of more
// points than give as many, the slopes are of random pairs of points: all of
// them would take seconds and change the third digit.
const MaxSlopes = 50_000

// slope is of the line through two points.
type slope struct {
	value float64
	i, j  int32
}

// slopes are sorted by value. sampled is false if there are no others.
func slopes(xs, ys []float64, rng *rand.Rand) (all []slope, sampled bool) {
	n := len(xs)
	add := func(i, j int) {
		if xs[i] != xs[j] {
			all = append(all, slope{(ys[j] - ys[i]) / (xs[j] - xs[i]), int32(i), int32(j)})
		}
	}
	if sampled = n*(n-1)/2 > MaxSlopes; sampled {
		for tries := 0; len(all) < MaxSlopes && tries < 2*MaxSlopes; tries++ {
			add(rng.IntN(n), rng.IntN(n))
		}
	} else {
		for i := range n {
			for j := range i {
				add(i, j)
			}
		}
	}
	slices.SortFunc(all, func(a, b slope) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
	})
	return all, sampled
}

// drawnSlopes is how many of them every resample takes the median of.
const drawnSlopes = 10_000

// thinned takes evenly of the sorted slopes, which moves the median of a
// resample by less than its interval is known to.
func thinned(all []slope) []slope {
	every := (len(all) + drawnSlopes - 1) / drawnSlopes
	if every <= 1 {
		return all
	}
	var some []slope
	for k := every / 2; k < len(all); k += every {
		some = append(some, all[k])
	}
	return some
}

// medianSlope is the median of the slopes, each as often as both of its points
// together. NaN if none counts.
func medianSlope(all []slope, weights []float64) float64 {
	var total float64
	for k := range all {
		total += weights[all[k].i] * weights[all[k].j]
	}
	if total == 0 {
		return math.NaN()
	}
	var below float64
	for k := range all {
		below += weights[all[k].i] * weights[all[k].j]
		switch {
		case below > total/2:
			return all[k].value
		case below == total/2:
			return (all[k].value + next(all[k+1:], weights, all[k].value)) / 2
		}
	}
	return all[len(all)-1].value
}

// next is the first slope that counts.
func next(all []slope, weights []float64, otherwise float64) float64 {
	for _, s := range all {
		if weights[s.i]*weights[s.j] > 0 {
			return s.value
		}
	}
	return otherwise
}

// weightedMedian is that of the values in the order of their ranking.
func weightedMedian(r ranking, values, weights []float64) float64 {
	var total, below float64
	for _, w := range weights {
		total += w
	}
	if total == 0 {
		return math.NaN()
	}
	for k, i := range r.order {
		below += weights[i]
		switch {
		case below > total/2:
			return values[i]
		case below == total/2:
			for _, j := range r.order[k+1:] {
				if weights[j] > 0 {
					return (values[i] + values[j]) / 2
				}
			}
		}
	}
	return values[r.order[len(r.order)-1]]
}
