package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode"
)

// group is the part of the data that belongs to one directed cloud pair, or
// all of it. Rows within one region are in none.
type group struct {
	name  string
	pairs []int   // index Data.Pairs
	obs   []int32 // index Data.Obs
}

// groupsOf puts All first, then the directed cloud pairs by name.
func groupsOf(d *Data) []group {
	places := map[string]int{}
	groups := []group{{name: All}}
	ofPair := make([]int, len(d.Pairs)) // 0: none
	for i, p := range d.Pairs {
		if p.Within() {
			continue
		}
		name := d.Group(p)
		at, known := places[name]
		if !known {
			at = len(groups)
			places[name] = at
			groups = append(groups, group{name: name})
		}
		ofPair[i] = at
		groups[0].pairs, groups[at].pairs = append(groups[0].pairs, i), append(groups[at].pairs, i)
	}
	for k, o := range d.Obs {
		if at := ofPair[o.Pair]; at > 0 {
			groups[0].obs, groups[at].obs = append(groups[0].obs, int32(k)), append(groups[at].obs, int32(k))
		}
	}
	slices.SortFunc(groups[1:], func(a, b group) int { return cmp.Compare(a.name, b.name) })
	return groups
}

// NewReport works out what the data say. The same data and seed give the same
// report.
func NewReport(d *Data, seed uint64) *Report {
	r := &Report{
		Schema: ReportSchema, Sources: d.Sources, Rows: countRows(d), Remarks: d.Remarks, Bad: d.Bad,
		Method: Method{seed, Resamples, Confidence, antipode.FibreGroupIndex, d.Coordinates},
	}
	r.Groups = reportGroups(d, groupsOf(d), seed)
	f := &finder{d: d, found: map[string]*Check{}}
	r.Checks, r.Flagged = f.run()
	r.Misplaced, r.NotPlaced = misplaced(d)
	r.Sentences = r.summary()
	return r
}

// reportGroups works on as many groups at once as there are CPUs. Each has
// random numbers of its own, so that the order does not matter.
func reportGroups(d *Data, groups []group, seed uint64) []GroupReport {
	reports := make([]GroupReport, len(groups))
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, g := range groups {
		work.Go(func() error {
			reports[i] = reportGroup(d, g, rand.New(rand.NewPCG(seed, uint64(i))))
			return nil
		})
	}
	_ = work.Wait() // none of them fails
	return reports
}

func reportGroup(d *Data, g group, rng *rand.Rand) GroupReport {
	r := GroupReport{Name: g.name, Rows: len(g.obs)}
	regions := map[int]bool{}
	for _, i := range g.pairs {
		m := d.medians[i]
		r.OK, r.Failed, r.Skipped = r.OK+m.OK, r.Failed+m.Failed, r.Skipped+m.Skipped
		if m.OK > 0 {
			r.Pairs++
		}
		regions[d.Pairs[i].From], regions[d.Pairs[i].To] = true, true
	}
	r.Regions = len(regions)
	all := newDraws(d.Regions, pick(d.Pairs, g.pairs), rng)
	rtt := newColumn(d, g, func(o Obs) float64 { return o.RTTMs }, func(m PairMedian) float64 { return m.RTTMs })
	rate := newColumn(d, g, func(o Obs) float64 { return decade(o.GoodputBps) }, func(m PairMedian) float64 { return decade(m.GoodputBps) })
	r.RTT, r.Goodput = rtt.relation(all, rng), rate.relation(all, rng)
	r.RTTMs = quantiles(d, g.pairs, all, func(_ Pair, m PairMedian) float64 { return m.RTTMs })
	r.GoodputBps = quantiles(d, g.pairs, all, func(_ Pair, m PairMedian) float64 { return m.GoodputBps })
	r.Inflation = quantiles(d, g.pairs, all, inflation)
	r.Sentences = r.say()
	return r
}

func pick[T any](from []T, places []int) (picked []T) {
	for _, i := range places {
		picked = append(picked, from[i])
	}
	return picked
}

// decade is the logarithm of a rate, NaN where there is none.
func decade(bps float64) float64 {
	if !(bps > 0) {
		return math.NaN()
	}
	return math.Log10(bps)
}

func countRows(d *Data) RowCounts {
	c := RowCounts{Accepted: len(d.Obs), SetApart: d.BadRows, Read: len(d.Obs) + d.BadRows, Regions: len(d.Regions)}
	for i, p := range d.Pairs {
		m := d.medians[i]
		rows := m.OK + m.Failed + m.Skipped
		c.OK, c.Failed, c.Skipped = c.OK+m.OK, c.Failed+m.Failed, c.Skipped+m.Skipped
		switch {
		case p.Within():
			c.Within += rows
			continue
		case math.IsNaN(p.Km):
			c.Unplaced += rows
		}
		c.Pairs++
	}
	return c
}

// rowWords names a row for people.
func rowWords(d *Data, o Obs) (from, to, file string) {
	p := d.Pairs[o.Pair]
	return d.Regions[p.From].ID(), d.Regions[p.To].ID(), d.Sources[o.Source].Name
}
