package plan

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/antipode-bench/antipode"
)

// block says of every region, by number, whether it is in a batch.
type block []bool

// cover is a search for few blocks in which every two regions that have a pair
// meet.
type cover struct {
	regions []antipode.Region
	atOnce  map[string]int
	want    [][]bool // whether two regions have a pair
	pairs   int      // of regions that have one
}

func newCover(pairs []Pair, atOnce map[string]int) *cover {
	c := &cover{regions: RegionsOf(pairs), atOnce: atOnce}
	numbers := map[antipode.Region]int{}
	for i, r := range c.regions {
		numbers[r] = i
		c.want = append(c.want, make([]bool, len(c.regions)))
	}
	for _, p := range pairs {
		a, b := numbers[p.From], numbers[p.To]
		if !c.want[a][b] {
			c.pairs++
		}
		c.want[a][b], c.want[b][a] = true, true
	}
	return c
}

// tries is how often the greedy search is repeated with other ties.
const tries = 20

// best is the shortest of several covers: greedy ones, and such as begin with the
// blocks of a design between groups of regions.
func (c *cover) best() []block {
	best := c.fill(nil, nil)
	least := c.least()
	keep := func(blocks []block) {
		if len(blocks) < len(best) {
			best = blocks
		}
	}
	for _, family := range designs(len(c.regions)) {
		if blocks := c.first(family); len(best) > least {
			keep(c.fill(blocks, nil))
		}
	}
	for try := uint64(0); try < tries && len(best) > least; try++ {
		keep(c.fill(nil, rand.New(rand.NewPCG(try, 1))))
	}
	return best
}

// least is what no cover can be shorter than, by counting: every region needs to
// sit in so many blocks that it meets all its others there (Schönheim 1964).
func (c *cover) least() int {
	size, limited := c.atOnce[AllClouds]
	if !limited || size < 2 {
		return 1
	}
	seats := 0
	for _, want := range c.want {
		seats += (count(want) + size - 2) / (size - 1)
	}
	return (seats + size - 1) / size
}

// first are the blocks of the first design that there is room for, if any.
func (c *cover) first(family []design) []block {
	for _, d := range family {
		if blocks, ok := c.blocks(d); ok {
			return blocks
		}
	}
	return nil
}

// blocks deals the regions to the groups of a design. ok is false if there is no
// room for one of its lines.
func (c *cover) blocks(d design) (blocks []block, ok bool) {
	group, next := make([]int, len(c.regions)), 0
	for _, i := range c.byCloud() {
		group[i] = -1 // in all blocks
		if c.limited(c.regions[i]) {
			group[i] = next % d.groups
			next++
		}
	}
	for _, line := range d.lines {
		b, count := make(block, len(c.regions)), map[string]int{}
		for i, r := range c.regions {
			if group[i] < 0 || slices.Contains(line, group[i]) {
				b[i] = true
				count[r.Cloud]++
				count[AllClouds]++
			}
		}
		if over(count, c.atOnce) {
			return nil, false
		}
		blocks = append(blocks, b)
	}
	return blocks, true
}

// byCloud are the numbers of the regions, cloud by cloud, so that each group gets
// its share of each.
func (c *cover) byCloud() []int {
	order := make([]int, len(c.regions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.regions[a].Cloud, c.regions[b].Cloud) })
	return order
}

// limited is false for a region that can be in every batch.
func (c *cover) limited(r antipode.Region) bool {
	_, cloud := c.atOnce[r.Cloud]
	_, all := c.atOnce[AllClouds]
	return cloud || all
}

// fill makes blocks until every pair of regions has met: first, as far as they
// bring any together, the given ones with what there is still room for. luck, if
// any, decides ties.
func (c *cover) fill(given []block, luck *rand.Rand) (blocks []block) {
	f := filling{cover: c, pairs: c.pairs, luck: luck}
	for i := range c.want {
		f.left = append(f.left, slices.Clone(c.want[i]))
		f.degree = append(f.degree, count(c.want[i]))
	}
	for _, b := range given {
		useful := false
		f.eachMeeting(b, func(int, int) { useful = true })
		if useful {
			blocks = append(blocks, f.take(b))
		}
	}
	for f.pairs > 0 {
		blocks = append(blocks, f.take(nil))
	}
	return blocks
}

func count(flags []bool) (n int) {
	for _, flag := range flags {
		if flag {
			n++
		}
	}
	return n
}

// filling is a cover in the making.
type filling struct {
	*cover
	left   [][]bool // whether two regions have still to meet
	degree []int    // with how many others, by region
	pairs  int      // of regions that have still to meet
	luck   *rand.Rand
}

// eachMeeting goes through the pairs of a block's regions that have still to meet.
func (f *filling) eachMeeting(b block, do func(a, b int)) {
	var members []int
	for i, in := range b {
		if !in {
			continue
		}
		for _, k := range members {
			if f.left[i][k] {
				do(i, k)
			}
		}
		members = append(members, i)
	}
}

// take adds regions to those of a block that have somebody to meet in it, always
// the one that has most to meet there, and has all of them met.
func (f *filling) take(given block) block {
	s := &sitting{filling: f, in: make(block, len(f.regions)), gain: make([]int, len(f.regions)), size: map[string]int{}}
	for i, r := range f.regions {
		if !f.limited(r) || i < len(given) && given[i] && f.hasToMeet(i, given) {
			s.add(i)
		}
	}
	for next := s.next(); next >= 0; next = s.next() {
		s.add(next)
	}
	f.eachMeeting(s.in, func(a, b int) {
		f.left[a][b], f.left[b][a] = false, false
		f.degree[a]--
		f.degree[b]--
		f.pairs--
	})
	return s.in
}

func (f *filling) hasToMeet(region int, others block) bool {
	for i, in := range others {
		if in && f.left[region][i] {
			return true
		}
	}
	return false
}

// sitting is a block in the making.
type sitting struct {
	*filling
	in   block
	gain []int          // how many of those in a region has still to meet
	size map[string]int // by cloud, and of AllClouds
}

func (s *sitting) add(region int) {
	s.in[region] = true
	s.size[s.regions[region].Cloud]++
	s.size[AllClouds]++
	for i, left := range s.left[region] {
		if left {
			s.gain[i]++
		}
	}
}

// next is the region there is room for that has most to meet in the block and
// then elsewhere, or -1.
func (s *sitting) next() int {
	best, rank := -1, [3]int{}
	for i, r := range s.regions {
		if s.in[i] || s.degree[i] == 0 || !s.room(r.Cloud) {
			continue
		}
		mine := [3]int{s.gain[i], s.degree[i], 0}
		if s.luck != nil {
			mine[2] = s.luck.Int()
		}
		if best < 0 || slices.Compare(mine[:], rank[:]) > 0 {
			best, rank = i, mine
		}
	}
	return best
}

// room reports whether one more region of a cloud may be in.
func (s *sitting) room(cloud string) bool {
	for _, key := range []string{cloud, AllClouds} {
		if most, limited := s.atOnce[key]; limited && s.size[key] >= most {
			return false
		}
	}
	return true
}
