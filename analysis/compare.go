package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/antipode-bench/antipode"
)

// CompareOptions say how sides are compared.
type CompareOptions struct {
	Metrics []string // MetricGoodput, MetricRTT
	// AtLeast is the least change that is reported, as a ratio: what is
	// significant is not always worth mentioning.
	AtLeast float64
	// ByPlace matches pairs whose ends are in the same places, whatever their
	// clouds: sides that are cloud pairs have no pair in common.
	ByPlace bool
	Seed    uint64
}

// leastMs is the least change of an RTT that is reported: below it even a
// significant one is of the machines.
const leastMs = 0.5

// matched are the pairs that can be compared, with the repetitions of every
// side.
type matched struct {
	ends   []antipode.Region // regions, or places
	pairs  []Pair            // of ends
	values [][][]float64     // by side and pair
}

// Compare holds the sides of the data against the first, pair by pair. The
// unit is the row, a repetition: what happens within one is not independent.
func Compare(d *Data, o CompareOptions) *Comparison {
	c := &Comparison{AtLeast: o.AtLeast, Matched: "regions"}
	if o.ByPlace {
		c.Matched = "places: ends within 150 km of each other"
	}
	c.Sides = sidesOf(d)
	for _, metric := range o.Metrics {
		m := match(d, metric, o.ByPlace)
		for other := 1; other < len(d.Sides); other++ {
			c.Metrics = append(c.Metrics, m.compare(metric, other, o))
		}
	}
	c.Sentences = c.say()
	return c
}

func sidesOf(d *Data) []Side {
	sides := make([]Side, len(d.Sides))
	seen := map[[2]int32]bool{}
	for i, name := range d.Sides {
		sides[i].Name = name
	}
	for _, o := range d.Obs {
		if o.Status != OK || d.Pairs[o.Pair].Within() {
			continue
		}
		sides[o.Side].Rows++
		if key := [2]int32{int32(o.Side), o.Pair}; !seen[key] {
			seen[key] = true
			sides[o.Side].Pairs++
		}
	}
	return sides
}

// match sorts the values of a metric by side and pair.
func match(d *Data, metric string, byPlace bool) *matched {
	m := &matched{ends: d.Regions}
	placeOf := make([]int, len(d.Regions))
	for i := range placeOf {
		placeOf[i] = i
	}
	if byPlace {
		m.ends, placeOf = places(d.Regions)
	}
	at := map[[2]int]int{}
	ofPair := make([]int, len(d.Pairs))
	for i, p := range d.Pairs {
		key := [2]int{placeOf[p.From], placeOf[p.To]}
		if key[0] == key[1] {
			ofPair[i] = -1
			continue
		}
		if _, known := at[key]; !known {
			at[key] = len(m.pairs)
			m.pairs = append(m.pairs, Pair{From: key[0], To: key[1], Km: p.Km})
		}
		ofPair[i] = at[key]
	}
	m.values = make([][][]float64, len(d.Sides))
	for side := range m.values {
		m.values[side] = make([][]float64, len(m.pairs))
	}
	for _, o := range d.Obs {
		v := o.GoodputBps
		if metric == MetricRTT {
			v = o.RTTMs
		}
		if k := ofPair[o.Pair]; k >= 0 && o.Status == OK && v > 0 {
			m.values[o.Side][k] = append(m.values[o.Side][k], v)
		}
	}
	return m
}

// placeKm is how far apart regions at one place may be: the clouds' sites around
// a city.
const placeKm = 150

// places gathers regions around the first one of each place.
func places(regions []antipode.Region) (all []antipode.Region, placeOf []int) {
	for _, r := range regions {
		at := slices.IndexFunc(all, func(p antipode.Region) bool { return antipode.DistanceKm(p, r) <= placeKm })
		if at < 0 {
			at = len(all)
			all = append(all, antipode.Region{Name: cmp.Or(r.Place, r.ID()), Latitude: r.Latitude, Longitude: r.Longitude, Unplaced: r.Unplaced})
		}
		placeOf = append(placeOf, at)
	}
	return all, placeOf
}

func (m *matched) name(end int) string {
	if e := m.ends[end]; e.Cloud != "" {
		return e.ID()
	}
	return m.ends[end].Name
}

// compare tests each pair that both sides have, then corrects for their number.
func (m *matched) compare(metric string, other int, o CompareOptions) MetricComparison {
	c := MetricComparison{Metric: metric, Other: other, Pairs: []PairComparison{}, OnlyBase: []string{}, OnlyOther: []string{}}
	var tested []Pair
	var logs, least []float64
	for k, p := range m.pairs {
		base, second := m.values[0][k], m.values[other][k]
		name := m.name(p.From) + " to " + m.name(p.To)
		switch {
		case len(base) == 0 && len(second) == 0:
		case len(second) == 0:
			c.OnlyBase = append(c.OnlyBase, name)
		case len(base) == 0:
			c.OnlyOther = append(c.OnlyOther, name)
		default:
			t := testPair(base, second)
			t.From, t.To = m.name(p.From), m.name(p.To)
			c.Pairs, tested = append(c.Pairs, t), append(tested, p)
			logs, least = append(logs, math.Log(t.Ratio)), append(least, leastP(len(base), len(second)))
		}
	}
	c.Overall = overall(m.ends, tested, logs, rand.New(rand.NewPCG(o.Seed, uint64(other))))
	c.Tested = c.adjust(least)
	c.Needed = needed(len(c.Pairs))
	c.judge(least, o.AtLeast)
	c.order()
	return c
}

// overall is the geometric mean of the ratios.
func overall(ends []antipode.Region, pairs []Pair, logs []float64, rng *rand.Rand) *Estimate {
	if len(logs) == 0 {
		return nil
	}
	mean := func(weights []float64) float64 {
		var sum, n float64
		for k, w := range weights {
			sum += w * logs[k]
			n += w
		}
		return math.Exp(sum / n)
	}
	weights := make([]float64, len(logs))
	fill(weights, 1)
	value := mean(weights)
	all := newDraws(ends, pairs, rng)
	var resampled []float64
	for i := range all {
		all.weigh(i, pairs, weights)
		resampled = append(resampled, mean(weights))
	}
	return new(estimate(value, resampled))
}

// judge gives the verdicts.
func (c *MetricComparison) judge(least []float64, atLeast float64) {
	for i := range c.Pairs {
		p := &c.Pairs[i]
		worse := p.Worse(c.Metric)
		small := math.Abs(worse) < atLeast || c.Metric == MetricRTT && math.Abs(p.OtherMedian-p.BaseMedian) < leastMs
		switch {
		case least[i]*float64(max(c.Tested, 1)) > Alpha || c.Tested == 0:
			p.Verdict = TooFew
		case p.PAdjusted > Alpha || small:
			p.Verdict = Same
		case worse > 0:
			p.Verdict = Regression
		default:
			p.Verdict = Improvement
		}
	}
}

// order puts regressions first, the worst on top, then improvements, then what
// is the same or can't be told.
func (c *MetricComparison) order() {
	rank := map[string]int{Regression: 0, Improvement: 1, Same: 2, TooFew: 3}
	slices.SortStableFunc(c.Pairs, func(a, b PairComparison) int {
		if rank[a.Verdict] != rank[b.Verdict] {
			return cmp.Compare(rank[a.Verdict], rank[b.Verdict])
		}
		if rank[a.Verdict] > 1 {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
		}
		return cmp.Compare(math.Abs(math.Log(b.Ratio)), math.Abs(math.Log(a.Ratio)))
	})
}
