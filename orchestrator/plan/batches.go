package plan

import (
	"cmp"
	"slices"

	"github.com/antipode-bench/antipode"
)

// AllClouds is the key under which a limit of all clouds together stands.
const AllClouds = ""

// Batches cuts pairs so that the regions of one batch are no more than atOnce
// says of their cloud, and no more than it says of AllClouds; what is missing
// there has no limit. Every pair is in exactly one batch, but for those that no
// batch can hold: alone.
//
// The fewest batches are a covering design, which is hard to find: the best of
// many simple tries is taken, always the same for the same pairs.
func Batches(pairs []Pair, atOnce map[string]int) (batches [][]Pair, alone []Pair) {
	var left []Pair
	for _, p := range pairs {
		need := map[string]int{AllClouds: 2}
		need[p.From.Cloud]++
		need[p.To.Cloud]++
		if over(need, atOnce) {
			alone = append(alone, p)
		} else {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return nil, alone
	}
	return deal(left, newCover(left, atOnce).best()), alone
}

// over reports whether there are more regions of a cloud than may be.
func over(count, atOnce map[string]int) bool {
	for cloud, most := range atOnce {
		if count[cloud] > most {
			return true
		}
	}
	return false
}

// deal puts every pair into the first of the blocks that has both its regions.
func deal(pairs []Pair, blocks []block) [][]Pair {
	in := map[antipode.Region][]bool{} // by block
	for i, r := range RegionsOf(pairs) {
		in[r] = make([]bool, len(blocks))
		for b, regions := range blocks {
			in[r][b] = regions[i]
		}
	}
	batches := make([][]Pair, len(blocks))
	for _, p := range pairs {
		from, to := in[p.From], in[p.To]
		for b := range blocks {
			if from[b] && to[b] {
				batches[b] = append(batches[b], p)
				break
			}
		}
	}
	return batches
}

// Machines counts the machines that batches launch in all.
func Machines(batches [][]Pair) int {
	n := 0
	for _, batch := range batches {
		n += len(RegionsOf(batch))
	}
	return n
}

// AtMost keeps n of the batches, those with the most pairs, in their order; 0 is
// all of them. Pairs of the others go where both their regions are anyway; left are
// those that no batch has then.
func AtMost(batches [][]Pair, n int) (kept [][]Pair, left []Pair) {
	if n == 0 || n >= len(batches) {
		return batches, nil
	}
	largest := make([]int, len(batches))
	for i := range largest {
		largest[i] = i
	}
	slices.SortStableFunc(largest, func(a, b int) int { return cmp.Compare(len(batches[b]), len(batches[a])) })
	chosen := map[int]bool{}
	for _, i := range largest[:n] {
		chosen[i] = true
	}
	var rest []Pair
	for i, batch := range batches {
		if chosen[i] {
			kept = append(kept, slices.Clone(batch))
		} else {
			rest = append(rest, batch...)
		}
	}
	return takeIn(kept, rest)
}

// takeIn adds pairs to the first batch that has both their regions.
func takeIn(batches [][]Pair, pairs []Pair) (_ [][]Pair, left []Pair) {
	has := make([]map[antipode.Region]bool, len(batches))
	for i, batch := range batches {
		has[i] = map[antipode.Region]bool{}
		for _, r := range RegionsOf(batch) {
			has[i][r] = true
		}
	}
	for _, p := range pairs {
		i := slices.IndexFunc(has, func(regions map[antipode.Region]bool) bool { return regions[p.From] && regions[p.To] })
		if i < 0 {
			left = append(left, p)
		} else {
			batches[i] = append(batches[i], p)
		}
	}
	return batches, left
}
