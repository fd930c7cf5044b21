package analysis

import (
	"math"

	"github.com/antipode-bench/antipode/results"
)

// PairRows are the rows, or, where there are too many to be kept, one row for
// each directed pair with the medians of its rows: a million points are a blot.
func (d *Data) PairRows() []results.Row {
	if d.Rows != nil {
		return d.located()
	}
	var rows []results.Row
	for i, p := range d.Pairs {
		from, to, m := d.Regions[p.From], d.Regions[p.To], d.medians[i]
		r := results.Row{FromCloud: from.Cloud, FromRegion: from.Name, ToCloud: to.Cloud, ToRegion: to.Name, DistanceKm: known(p.Km)}
		switch {
		case p.Within():
			continue
		case m.OK > 0:
			r.Status, r.RTTP50Ms, r.RTTMinMs, r.GoodputBps = results.StatusOK, known(m.RTTMs), known(m.RTTMinMs), known(m.GoodputBps)
		case m.Failed > 0:
			r.Status, r.Error = results.StatusFailed, "every row of the pair failed"
		default:
			r.Status, r.Error = results.StatusSkipped, "every row of the pair was skipped"
		}
		rows = append(rows, r)
	}
	return rows
}

// located are the rows of two regions with the distance and the RTT that all
// findings are of.
func (d *Data) located() []results.Row {
	var rows []results.Row
	for k, r := range d.Rows {
		o := d.Obs[k]
		p := d.Pairs[o.Pair]
		if p.Within() {
			continue
		}
		r.DistanceKm = known(p.Km)
		if r.RTTP50Ms == nil {
			r.RTTP50Ms = known(o.RTTMs)
		}
		rows = append(rows, r)
	}
	return rows
}

// known is nil for NaN.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}
