package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// Places are the coordinates that rows are given. A row's own distance counts
// unless Override is set; then it is worked out anew from the coordinates, and
// a row whose regions they lack has none.
type Places struct {
	Name     string // for people: "built-in", or a file's name
	Regions  []antipode.Region
	Override bool
}

// Collector takes rows one by one and keeps what Data needs of them, so that a
// million rows take some 60 MB.
type Collector struct {
	data     Data
	places   map[regionKey]antipode.Region
	override bool
	regions  map[regionKey]int
	pairs    map[[2]int]int
	caps     map[capsKey]int32
	sides    map[string]int16
	at       string         // side of the rows to come
	flags    map[string]int // rows by their whole cell of flags
	far      int            // row of the source at hand that Data.Obs begins with
}

type regionKey struct{ cloud, name string }

// NewCollector is ready for the first source.
func NewCollector(places Places) *Collector {
	c := &Collector{
		data: Data{Coordinates: places.Name}, override: places.Override,
		places:  map[regionKey]antipode.Region{},
		regions: map[regionKey]int{},
		pairs:   map[[2]int]int{},
		caps:    map[capsKey]int32{},
		sides:   map[string]int16{},
		flags:   map[string]int{},
	}
	c.locate(places.Regions)
	return c
}

// Locate adds coordinates, such as a run's own of hosts. Those that are known
// already stay, and where they are to override others these are ignored.
func (c *Collector) Locate(regions []antipode.Region) {
	if !c.override {
		c.locate(regions)
	}
}

func (c *Collector) locate(regions []antipode.Region) {
	for _, r := range regions {
		key := regionKey{r.Cloud, r.Name}
		if _, known := c.places[key]; !known {
			c.places[key] = r
		}
	}
}

// SetSide says which side of a comparison the rows to come are on.
func (c *Collector) SetSide(name string) {
	c.at = name
	c.side(name)
}

// SortSides puts the sides, which are in the order of SetSide, in that of their
// names.
func (c *Collector) SortSides() {
	places := reorder(c.data.Sides, cmp.Compare[string])
	for i := range c.data.Obs {
		c.data.Obs[i].Side = int16(places[c.data.Obs[i].Side])
	}
}

// Add takes a row of the source at hand: the one that the next End closes.
func (c *Collector) Add(r results.Row) {
	d := &c.data
	o := Obs{Pair: int32(c.pair(r)), Source: int16(len(d.Sources)), Status: statusOf(r.Status), Side: c.side(c.at), Caps: c.capsOf(r)}
	o.RTTMs = first(r.RTTP50Ms, r.RTTMeanMs)
	o.RTTMinMs = first(r.RTTMinMs, r.RTTP50Ms, r.RTTMeanMs)
	o.GoodputBps = first(r.GoodputBps)
	d.Obs = append(d.Obs, o)
	if r.Flags != "" {
		c.flags[r.Flags]++
	}
	switch {
	case len(d.Obs) <= MostRows:
		d.Rows = append(d.Rows, r)
	case d.Rows != nil:
		d.Rows, d.Series = nil, nil
	}
}

// AddBad takes a line that is no row.
func (c *Collector) AddBad(b results.BadRow) {
	c.data.BadRows++
	if len(c.data.Bad) < MostBad {
		c.data.Bad = append(c.data.Bad, b)
	}
}

// AddSeries takes how the test of a row went on: of the row-th of the source
// at hand, from 0. Where there are more rows than are kept, it is not kept either.
func (c *Collector) AddSeries(row int, s results.Series) {
	if len(c.data.Obs) <= MostRows {
		c.data.Series = append(c.data.Series, Series{int32(c.far + row), s})
	}
}

// End closes the source that the rows since the last End are from.
func (c *Collector) End(s results.Source) {
	c.data.Sources = append(c.data.Sources, s)
	c.far = len(c.data.Obs)
}

// Data is what was collected. The collector must not be used any more.
func (c *Collector) Data() *Data {
	d := &c.data
	c.sort()
	slices.SortStableFunc(d.Series, func(a, b Series) int { return cmp.Compare(a.Obs, b.Obs) })
	d.medians = medians(d)
	d.Remarks = c.remarks()
	return d
}

// remarks counts each flag by itself. Few rows differ in all of them.
func (c *Collector) remarks() []Remark {
	rows := map[string]int{}
	for flags, n := range c.flags {
		for flag := range strings.SplitSeq(flags, ";") {
			rows[flag] += n
		}
	}
	remarks := []Remark{}
	for _, flag := range slices.Sorted(maps.Keys(rows)) {
		remarks = append(remarks, Remark{flag, rows[flag]})
	}
	return remarks
}

// sort puts regions and pairs in order, whatever order the rows came in.
func (c *Collector) sort() {
	d := &c.data
	regions := reorder(d.Regions, func(a, b antipode.Region) int { return cmp.Compare(a.ID(), b.ID()) })
	for i := range d.Pairs {
		d.Pairs[i].From, d.Pairs[i].To = regions[d.Pairs[i].From], regions[d.Pairs[i].To]
	}
	pairs := reorder(d.Pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	for i := range d.Obs {
		d.Obs[i].Pair = int32(pairs[d.Obs[i].Pair])
	}
}

// reorder sorts s and returns where each element went.
func reorder[T any](s []T, compare func(a, b T) int) []int {
	order := make([]int, len(s))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(s[i], s[j]) })
	sorted, to := make([]T, len(s)), make([]int, len(s))
	for place, from := range order {
		sorted[place], to[from] = s[from], place
	}
	copy(s, sorted)
	return to
}

func (c *Collector) pair(r results.Row) int {
	ends := [2]int{c.region(r.FromCloud, r.FromRegion), c.region(r.ToCloud, r.ToRegion)}
	i, known := c.pairs[ends]
	if !known {
		i = len(c.data.Pairs)
		c.pairs[ends] = i
		c.data.Pairs = append(c.data.Pairs, Pair{From: ends[0], To: ends[1], Km: math.NaN()})
	}
	if p := &c.data.Pairs[i]; math.IsNaN(p.Km) {
		p.Km = c.distance(*p, r)
	}
	return i
}

func (c *Collector) distance(p Pair, r results.Row) float64 {
	if r.DistanceKm != nil && !c.override {
		return *r.DistanceKm
	}
	return antipode.DistanceKm(c.data.Regions[p.From], c.data.Regions[p.To])
}

func (c *Collector) region(cloud, name string) int {
	key := regionKey{cloud, name}
	i, known := c.regions[key]
	if !known {
		i = len(c.data.Regions)
		c.regions[key] = i
		place, ok := c.places[key]
		if !ok {
			place = antipode.Region{Cloud: cloud, Name: name, Unplaced: true}
		}
		c.data.Regions = append(c.data.Regions, place)
	}
	return i
}

func (c *Collector) side(name string) int16 {
	i, known := c.sides[name]
	if !known {
		i = int16(len(c.data.Sides))
		c.sides[name] = i
		c.data.Sides = append(c.data.Sides, name)
	}
	return i
}

// capsOf looks what is the same for most rows up only once.
func (c *Collector) capsOf(r results.Row) int32 {
	key := keyOf(r)
	i, known := c.caps[key]
	if !known {
		i = int32(len(c.data.Caps))
		c.caps[key] = i
		c.data.Caps = append(c.data.Caps, key.caps())
	}
	return i
}

func statusOf(s string) Status {
	switch s {
	case results.StatusOK:
		return OK
	case results.StatusSkipped:
		return Skipped
	}
	return Failed
}

// first is the first figure that there is, or NaN.
func first(figures ...*float64) float64 {
	for _, f := range figures {
		if usable(f) {
			return *f
		}
	}
	return math.NaN()
}

// medians sums the rows up, pair by pair.
func medians(d *Data) []PairMedian {
	byPair := make([]PairMedian, len(d.Pairs))
	rtts, rates := make([][]float64, len(d.Pairs)), make([][]float64, len(d.Pairs))
	for i := range byPair {
		byPair[i].RTTMinMs = math.NaN()
	}
	for _, o := range d.Obs {
		m := &byPair[o.Pair]
		switch o.Status {
		case Failed:
			m.Failed++
			continue
		case Skipped:
			m.Skipped++
			continue
		}
		m.OK++
		rtts[o.Pair] = appendKnown(rtts[o.Pair], o.RTTMs)
		rates[o.Pair] = appendKnown(rates[o.Pair], o.GoodputBps)
		if math.IsNaN(m.RTTMinMs) || o.RTTMinMs < m.RTTMinMs {
			m.RTTMinMs = o.RTTMinMs
		}
	}
	for i := range byPair {
		byPair[i].RTTMs, byPair[i].GoodputBps = median(rtts[i]), median(rates[i])
	}
	return byPair
}

func appendKnown(s []float64, v float64) []float64 {
	if math.IsNaN(v) {
		return s
	}
	return append(s, v)
}

// median sorts vs; NaN of none.
func median(vs []float64) float64 {
	if len(vs) == 0 {
		return math.NaN()
	}
	slices.Sort(vs)
	n := len(vs)
	return (vs[(n-1)/2] + vs[n/2]) / 2
}
