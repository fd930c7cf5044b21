package plan

import (
	"cmp"

	"github.com/antipode-bench/antipode"
)

// Batches cuts pairs so that the regions of one batch are no more than atOnce
// says of their cloud; a cloud that is missing there has no limit. Every pair is
// in exactly one batch, but for those that no batch can hold: alone.
//
// The fewest batches are a covering design, which is hard to find. Of two simple
// ways the better is taken.
func Batches(pairs []Pair, atOnce map[string]int) (batches [][]Pair, alone []Pair) {
	var left []Pair
	for _, p := range pairs {
		need := map[string]int{}
		need[p.From.Cloud]++
		need[p.To.Cloud]++
		if over(need, atOnce) {
			alone = append(alone, p)
		} else {
			left = append(left, p)
		}
	}
	batches = newCover(left, atOnce).fill()
	if grouped, ok := newCover(left, atOnce).meet(); ok && len(grouped) < len(batches) {
		batches = grouped
	}
	return batches, alone
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

// cover is a set of batches in the making.
type cover struct {
	atOnce  map[string]int
	left    []Pair
	regions []antipode.Region
	numbers map[antipode.Region]int
	between [][]int // pairs left between two regions, by their numbers
}

func newCover(pairs []Pair, atOnce map[string]int) *cover {
	c := &cover{atOnce: atOnce, left: pairs, regions: RegionsOf(pairs), numbers: map[antipode.Region]int{}}
	for i, r := range c.regions {
		c.numbers[r] = i
	}
	c.between = make([][]int, len(c.regions))
	for i := range c.between {
		c.between[i] = make([]int, len(c.regions))
	}
	for _, p := range pairs {
		c.count(p, 1)
	}
	return c
}

func (c *cover) count(p Pair, change int) {
	a, b := c.numbers[p.From], c.numbers[p.To]
	c.between[a][b] += change
	c.between[b][a] += change
}

// unlimited are the regions that can be in every batch.
func (c *cover) unlimited() []bool {
	chosen := make([]bool, len(c.regions))
	for i, r := range c.regions {
		_, limited := c.atOnce[r.Cloud]
		chosen[i] = !limited
	}
	return chosen
}

// take makes a batch of the pairs left within the chosen regions.
func (c *cover) take(chosen []bool) (batch []Pair) {
	var rest []Pair
	for _, p := range c.left {
		if chosen[c.numbers[p.From]] && chosen[c.numbers[p.To]] {
			batch = append(batch, p)
			c.count(p, -1)
		} else {
			rest = append(rest, p)
		}
	}
	c.left = rest
	return batch
}

// fill fills one batch after the other: first the two regions with most pairs
// left, then always the region that has most with those in it.
func (c *cover) fill() (batches [][]Pair) {
	for len(c.left) > 0 {
		batches = append(batches, c.take(c.fullest()))
	}
	return batches
}

func (c *cover) fullest() []bool {
	chosen, count := c.unlimited(), map[string]int{}
	for {
		best, bestRank := -1, [2]int{}
		for i, r := range c.regions {
			if chosen[i] || count[r.Cloud] >= c.atOnce[r.Cloud] {
				continue
			}
			rank := c.rank(i, chosen)
			if best < 0 || cmp.Or(cmp.Compare(rank[0], bestRank[0]), cmp.Compare(rank[1], bestRank[1])) > 0 {
				best, bestRank = i, rank
			}
		}
		if best < 0 {
			return chosen
		}
		chosen[best] = true
		count[c.regions[best].Cloud]++
	}
}

// rank is how many pairs a region has left with the chosen, and with all.
func (c *cover) rank(region int, chosen []bool) (rank [2]int) {
	for other, n := range c.between[region] {
		rank[1] += n
		if chosen[other] {
			rank[0] += n
		}
	}
	return rank
}

// meet cuts the regions of every cloud with a limit into groups of half of it,
// and lets each two groups meet. ok is false where there is no half.
func (c *cover) meet() (batches [][]Pair, ok bool) {
	for _, most := range c.atOnce {
		if most < 2 {
			return nil, false
		}
	}
	group, last := make([]int, len(c.regions)), 0
	count := map[string]int{}
	for i, r := range c.regions {
		if most, limited := c.atOnce[r.Cloud]; limited {
			group[i] = count[r.Cloud] / (most / 2)
			count[r.Cloud]++
			last = max(last, group[i])
		}
	}
	for a := range last + 1 {
		for b := min(a+1, last); b <= last; b++ {
			chosen := c.unlimited()
			for i := range chosen {
				chosen[i] = chosen[i] || group[i] == a || group[i] == b
			}
			if batch := c.take(chosen); len(batch) > 0 {
				batches = append(batches, batch)
			}
		}
	}
	return batches, true
}

// Machines counts the machines that batches launch in all.
func Machines(batches [][]Pair) int {
	n := 0
	for _, batch := range batches {
		n += len(RegionsOf(batch))
	}
	return n
}
