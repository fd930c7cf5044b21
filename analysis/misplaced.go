package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/units"
)

// misplaced names the smallest set of regions without which no row is faster
// than light in fibre. Of several such sets it takes the one whose regions' other
// rows fit the trend of all others worst. Where that would take more than a
// quarter of the regions it names none, and says why.
func misplaced(d *Data) (found []Misplaced, why string) {
	violations := tooFastPairs(d)
	edges := slices.SortedFunc(maps.Keys(violations), func(a, b edge) int { return cmp.Or(a.a-b.a, a.b-b.b) })
	covers := smallestCovers(edges, max(1, len(d.Regions)/4))
	if covers == nil {
		return []Misplaced{}, fmt.Sprintf("No few regions explain the rows that are faster than light in fibre, which are of %s: their RTTs are wrong, rather than coordinates.",
			counted(len(edges), "pair of regions", "pairs of regions"))
	}
	found = []Misplaced{}
	l := newLocator(d, violations)
	cover := slices.MaxFunc(covers, func(a, b []int) int { return cmp.Compare(l.misfit(a), l.misfit(b)) })
	l.exclude(cover)
	for _, region := range cover {
		found = append(found, l.describe(region))
	}
	slices.SortStableFunc(found, func(a, b Misplaced) int { return cmp.Compare(b.Violations, a.Violations) })
	return found, ""
}

// tooFastPairs counts the rows under the fibre floor between each two regions.
func tooFastPairs(d *Data) map[edge]int {
	violations := map[edge]int{}
	for _, o := range d.Obs {
		p := d.Pairs[o.Pair]
		if o.Status == OK && !p.Within() && o.RTTMinMs < antipode.FibreRTTMs(p.Km) {
			violations[edge{min(p.From, p.To), max(p.From, p.To)}]++
		}
	}
	return violations
}

// sight is what one pair says about where a region is.
type sight struct {
	from              antipode.Region
	other             int     // index Data.Regions
	km, rttMs, rttMin float64 // km as it was taken
	tooFast           bool
}

// locator finds out where regions are by their round-trip times.
type locator struct {
	d                *Data
	violations       map[edge]int
	sights           [][]sight // of each region
	excluded         []int
	intercept, slope float64 // of RTT over km, from the pairs that don't contradict physics
}

func newLocator(d *Data, violations map[edge]int) *locator {
	l := &locator{d: d, violations: violations, sights: make([][]sight, len(d.Regions))}
	suspects := map[int]bool{}
	for e := range violations {
		suspects[e.a], suspects[e.b] = true, true
	}
	var kms, rtts []float64
	for i, p := range d.Pairs {
		m := d.medians[i]
		if p.Within() || math.IsNaN(p.Km) || math.IsNaN(m.RTTMs) {
			continue
		}
		bad := violations[edge{min(p.From, p.To), max(p.From, p.To)}] > 0
		for _, ends := range [2][2]int{{p.From, p.To}, {p.To, p.From}} {
			l.sights[ends[0]] = append(l.sights[ends[0]], sight{d.Regions[ends[1]], ends[1], p.Km, m.RTTMs, m.RTTMinMs, bad})
		}
		if !bad && !suspects[p.From] && !suspects[p.To] {
			kms, rtts = append(kms, p.Km), append(rtts, m.RTTMs)
		}
	}
	l.fit(kms, rtts)
	return l
}

// fit takes light's own line where there are too few pairs for another.
func (l *locator) fit(kms, rtts []float64) {
	c := &column{pairs: make([]Pair, len(kms)), kms: kms, medians: rtts, rowY: rtts}
	if c.noFit() != "" {
		l.slope = antipode.FibreRTTMs(1) * 1.5
		return
	}
	weights := make([]float64, len(kms))
	fill(weights, 1)
	all, _ := slopes(kms, rtts, rand.New(rand.NewPCG(1, 2))) // the same each time
	l.slope = medianSlope(all, weights)
	l.intercept = c.robustIntercept(l.slope)
}

// misfit is how far the rows of some regions that are not too fast are from the
// line, on average over the regions.
func (l *locator) misfit(regions []int) float64 {
	var sum float64
	for _, region := range regions {
		var rests []float64
		for _, s := range l.sights[region] {
			if !s.tooFast {
				rests = append(rests, math.Abs(s.rttMs-l.expected(s.km)))
			}
		}
		if m := median(rests); !math.IsNaN(m) {
			sum += m
		}
	}
	return sum
}

func (l *locator) expected(km float64) float64 { return l.intercept + l.slope*km }

// exclude takes regions that are misplaced out of what others are located by.
func (l *locator) exclude(regions []int) { l.excluded = regions }

func (l *locator) describe(region int) Misplaced {
	r := l.d.Regions[region]
	m := Misplaced{Region: r.ID(), Latitude: r.Latitude, Longitude: r.Longitude, Likely: l.locate(region)}
	for e, n := range l.violations {
		if e.a == region || e.b == region {
			m.Violations += n
		}
	}
	m.Sentence = fmt.Sprintf("%s can't be at %.2f, %.2f: %s faster than light in fibre",
		m.Region, m.Latitude, m.Longitude, counted(m.Violations, "of its rows is", "of its rows are"))
	if p := m.Likely; p != nil {
		m.Sentence += fmt.Sprintf("; its round-trip times put it about %s km away, near %.0f, %.0f (the nearest other region is %s)",
			units.Kilometres(p.MovedKm), p.Latitude, p.Longitude, p.Near)
	}
	m.Sentence += "."
	return m
}

// minSights is how many other regions a place is worked out from at least.
const minSights = 5

// locate looks for the place whose distances fit the region's RTTs best: on a
// grid over the Earth, then closer around the best.
func (l *locator) locate(region int) *Place {
	var seen []sight
	others := map[int]bool{}
	for _, s := range l.sights[region] {
		if !slices.Contains(l.excluded, s.other) && !s.from.Unplaced {
			seen = append(seen, s)
			others[s.other] = true
		}
	}
	if len(others) < minSights {
		return nil
	}
	best := antipode.Region{}
	least := math.Inf(1)
	try := func(latitude, longitude float64) {
		at := antipode.Region{Latitude: max(-90, min(90, latitude)), Longitude: math.Remainder(longitude, 360)}
		if loss := l.loss(at, seen, least); loss < least {
			best, least = at, loss
		}
	}
	for latitude := -88.0; latitude <= 88; latitude += 4 {
		for longitude := -180.0; longitude < 180; longitude += 4 {
			try(latitude, longitude)
		}
	}
	for step := 2.0; step > 0.05; step /= 2 {
		center := best
		for north := -2.0; north <= 2; north++ {
			for east := -2.0; east <= 2; east++ {
				try(center.Latitude+north*step, center.Longitude+east*step)
			}
		}
	}
	return l.place(region, best)
}

// loss is how badly RTTs fit the distances from a place: the sum of what they
// differ by from the line that suits the place best, since around some regions
// all ways are long, over the RTT, since neighbours say most. A place that some
// RTT rules out pays ten times. It stops when it is more than enough.
func (l *locator) loss(at antipode.Region, seen []sight, enough float64) (loss float64) {
	kms, slopes := make([]float64, len(seen)), make([]float64, 0, len(seen))
	for i, s := range seen {
		kms[i] = antipode.DistanceKm(at, s.from)
		if kms[i] > InflationKm {
			slopes = append(slopes, (s.rttMs-l.intercept)/kms[i])
		}
	}
	slope := max(median(slopes), antipode.FibreRTTMs(1))
	for i, s := range seen {
		off := math.Abs(s.rttMs - l.intercept - slope*kms[i])
		if short := antipode.FibreRTTMs(kms[i]) - s.rttMin; short > 0 {
			off += 10 * short
		}
		loss += off / (s.rttMs + 1)
		if loss > enough {
			break
		}
	}
	return loss
}

func (l *locator) place(region int, at antipode.Region) *Place {
	p := &Place{
		Latitude: math.Round(10*at.Latitude) / 10, Longitude: math.Round(10*at.Longitude) / 10,
		MovedKm: math.Round(antipode.DistanceKm(at, l.d.Regions[region])),
	}
	least := math.Inf(1)
	for i, r := range l.d.Regions {
		if km := antipode.DistanceKm(at, r); i != region && km < least && !slices.Contains(l.excluded, i) {
			p.Near, least = r.ID(), km
		}
	}
	return p
}
