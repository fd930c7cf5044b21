package plan

import (
	"cmp"
	"math"

	"github.com/antipode-bench/antipode"
)

// spread chooses n regions far apart (farthest point first, Gonzalez 1985),
// beginning with the first. Before distance counts that a candidate has a pair
// with a region already chosen, then that its cloud has had fewest, then that
// every account may use it: an opt-in region is often a region skipped.
func spread(regions []antipode.Region, pairs []Pair, n int) []antipode.Region {
	paired := map[Pair]bool{}
	for _, p := range pairs {
		paired[p], paired[Pair{p.To, p.From}] = true, true
	}
	var chosen []antipode.Region
	left := append([]antipode.Region(nil), regions...)
	for len(chosen) < n && len(left) > 0 {
		best, bestRank := 0, rank{}
		for i, r := range left {
			if rk := rankOf(r, chosen, paired); i == 0 || rk.compare(bestRank) > 0 {
				best, bestRank = i, rk
			}
		}
		chosen = append(chosen, left[best])
		left = append(left[:best], left[best+1:]...)
	}
	return chosen
}

// rank orders candidates, the most important first.
type rank struct {
	paired, sameCloud, optIn int
	nearestKm                float64 // to the chosen ones
}

func rankOf(r antipode.Region, chosen []antipode.Region, paired map[Pair]bool) rank {
	rk := rank{nearestKm: math.Inf(1)}
	if r.OptIn {
		rk.optIn = 1
	}
	for _, c := range chosen {
		if paired[Pair{r, c}] {
			rk.paired = 1
		}
		if r.Cloud == c.Cloud {
			rk.sameCloud++
		}
		rk.nearestKm = min(rk.nearestKm, antipode.DistanceKm(r, c))
	}
	return rk
}

// compare is positive when a is the better candidate.
func (a rank) compare(b rank) int {
	return cmp.Or(
		cmp.Compare(a.paired, b.paired),
		cmp.Compare(b.sameCloud, a.sameCloud),
		cmp.Compare(b.optIn, a.optIn),
		cmp.Compare(a.nearestKm, b.nearestKm),
	)
}
