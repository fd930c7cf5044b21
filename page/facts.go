package page

import (
	"math"
	"slices"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
)

// facts are what the page shows before anybody clicks. Slices of pairs are
// parallel, as columns: they pack better, and read faster.
type facts struct {
	Regions []region `json:"regions"`
	Groups  []string `json:"groups"` // directed cloud pairs, by name
	Flags   []flag   `json:"flags"`
	Pairs   pairs    `json:"pairs"`
	Limits  []string `json:"limits"` // what limited rows; the first is "", for unknown
	Lines   lines    `json:"lines"`
	Rows    bool     `json:"rows"` // whether the rows themselves are there
}

type region struct {
	ID        string   `json:"id"`
	Place     string   `json:"place,omitempty"`
	Latitude  *float64 `json:"lat"` // nil: nobody knows
	Longitude *float64 `json:"lon"`
}

type flag struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

type pairs struct {
	From    []int   `json:"from"` // indexes regions
	To      []int   `json:"to"`
	Group   []int   `json:"group"` // indexes groups
	Km      numbers `json:"km"`
	RTTMs   numbers `json:"rtt"`
	Bps     numbers `json:"bps"`
	OK      []int   `json:"ok"` // rows
	Failed  []int   `json:"failed"`
	Skipped []int   `json:"skipped"`
	Flags   []int   `json:"flags"` // bits, in the order of flags
	Limit   []int   `json:"limit"` // indexes limits; of the last row that is ok
}

// lines are what figures are held against in the charts over distance.
type lines struct {
	FibreMsPerKm float64        `json:"fibre_ms_per_km"` // there and back
	RTT          *analysis.Line `json:"rtt,omitempty"`   // least squares, over all rows
	Goodput      *analysis.Line `json:"log10_bps,omitempty"`
}

func factsOf(in Input) facts {
	d, r := in.Data, in.Report
	f := facts{Rows: d.Rows != nil, Lines: linesOf(r), Limits: []string{""}}
	for _, place := range d.Regions {
		f.Regions = append(f.Regions, regionOf(place))
	}
	for _, c := range r.Checks {
		f.Flags = append(f.Flags, flag{c.Flag, c.Title})
	}
	f.addPairs(d)
	f.addFlags(d, r)
	f.addLimits(d)
	return f
}

func linesOf(r *analysis.Report) lines {
	l := lines{FibreMsPerKm: antipode.FibreRTTMs(1)}
	for _, g := range r.Groups {
		if g.Name == analysis.All {
			l.RTT, l.Goodput = g.RTT.LeastSquares, g.Goodput.LeastSquares
		}
	}
	return l
}

func regionOf(r antipode.Region) region {
	known := region{ID: r.ID(), Place: r.Place}
	if !r.Unplaced {
		known.Latitude, known.Longitude = &r.Latitude, &r.Longitude
	}
	return known
}

func (f *facts) addPairs(d *analysis.Data) {
	f.Groups = groupNames(d)
	for i, p := range d.Pairs {
		m, g := d.Medians()[i], slices.Index(f.Groups, d.Group(p))
		f.Pairs.From, f.Pairs.To = append(f.Pairs.From, p.From), append(f.Pairs.To, p.To)
		f.Pairs.Group = append(f.Pairs.Group, g)
		f.Pairs.Km = append(f.Pairs.Km, p.Km)
		f.Pairs.RTTMs = append(f.Pairs.RTTMs, m.RTTMs)
		f.Pairs.Bps = append(f.Pairs.Bps, m.GoodputBps)
		f.Pairs.OK = append(f.Pairs.OK, m.OK)
		f.Pairs.Failed = append(f.Pairs.Failed, m.Failed)
		f.Pairs.Skipped = append(f.Pairs.Skipped, m.Skipped)
	}
}

// groupNames are in the order that the charts have, so that a cloud pair has the
// same colour here and there: those of AWS and Google Cloud first.
func groupNames(d *analysis.Data) []string {
	names := []string{"aws-aws", "aws-gcp", "gcp-aws", "gcp-gcp"}
	var more []string
	for _, p := range d.Pairs {
		if name := d.Group(p); !slices.Contains(names, name) {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	return append(names, slices.Compact(more)...)
}

func (f *facts) addFlags(d *analysis.Data, r *analysis.Report) {
	f.Pairs.Flags = make([]int, len(d.Pairs))
	bit := map[string]int{}
	for i, c := range r.Checks {
		bit[c.Flag] = 1 << i
	}
	for _, found := range r.Flagged {
		f.Pairs.Flags[d.Obs[found.Obs].Pair] |= bit[found.Flag]
	}
}

func (f *facts) addLimits(d *analysis.Data) {
	f.Pairs.Limit = make([]int, len(d.Pairs))
	index := map[string]int{"": 0}
	for i, row := range d.Rows {
		if row.LimitedBy == "" || d.Obs[i].Status != analysis.OK {
			continue
		}
		at, known := index[row.LimitedBy]
		if !known {
			at = len(f.Limits)
			index[row.LimitedBy] = at
			f.Limits = append(f.Limits, row.LimitedBy)
		}
		f.Pairs.Limit[d.Obs[i].Pair] = at
	}
}

// known is the figure at p, or NaN.
func known[T int64 | float64](p *T) float64 {
	if p == nil {
		return math.NaN()
	}
	return float64(*p)
}
