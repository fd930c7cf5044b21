package analysis

import (
	"fmt"
	"slices"
)

// mostSearched bounds the search for the smallest cover, which doubles with each
// region. More regions than these are not a handful of wrong coordinates.
const mostSearched = 14

// edge joins two regions.
type edge struct{ a, b int }

// smallestCovers returns every smallest set of at most that many regions that
// has an end of each edge, each sorted.
func smallestCovers(edges []edge, most int) [][]int {
	for size := 0; size <= min(most, mostSearched); size++ {
		s := coverSearch{seen: map[string]bool{}}
		s.search(edges, nil, size)
		if len(s.covers) > 0 {
			return s.covers
		}
	}
	return nil
}

type coverSearch struct {
	covers [][]int
	seen   map[string]bool
}

// search adds to chosen at most left regions. Of the busiest region's edges
// either that region is in the cover or all its neighbours are.
func (s *coverSearch) search(edges []edge, chosen []int, left int) {
	if len(edges) == 0 {
		s.keep(chosen)
		return
	}
	busiest, neighbours := busiestOf(edges)
	if left < 1 || len(edges) > left*len(neighbours) {
		return // so many edges can't be covered any more
	}
	s.search(without(edges, busiest), append(slices.Clone(chosen), busiest), left-1)
	if len(neighbours) <= left {
		s.search(without(edges, neighbours...), append(slices.Clone(chosen), neighbours...), left-len(neighbours))
	}
}

func (s *coverSearch) keep(chosen []int) {
	cover := slices.Clone(chosen)
	slices.Sort(cover)
	key := fmt.Sprint(cover)
	if !s.seen[key] {
		s.seen[key] = true
		s.covers = append(s.covers, cover)
	}
}

// busiestOf is the region with most edges, the first of equals, and its
// neighbours in order.
func busiestOf(edges []edge) (busiest int, neighbours []int) {
	by := map[int][]int{}
	for _, e := range edges {
		by[e.a], by[e.b] = append(by[e.a], e.b), append(by[e.b], e.a)
	}
	busiest = -1
	for region, others := range by {
		if busiest < 0 || len(others) > len(by[busiest]) || len(others) == len(by[busiest]) && region < busiest {
			busiest = region
		}
	}
	neighbours = by[busiest]
	slices.Sort(neighbours)
	return busiest, neighbours
}

func without(edges []edge, regions ...int) (rest []edge) {
	for _, e := range edges {
		if !slices.Contains(regions, e.a) && !slices.Contains(regions, e.b) {
			rest = append(rest, e)
		}
	}
	return rest
}
