package charts

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
)

// Small panels, so many across.
const (
	regionColumns = 6
	regionHeight  = 98 // points
)

// origin is one region with the round trips that begin there.
type origin struct {
	name         string
	points       []analysis.Point
	failedKm     []float64
	maxKm, maxMs float64 // the same for all, so that panels can be compared
	marks        map[string]mark
}

// regionFigures has a small panel for each region, from west to east; nothing if
// no pair has an RTT and a distance.
func regionFigures(d *analysis.Data, marks map[string]mark) []Figure {
	all := origins(d, marks)
	if len(all) == 0 {
		return nil
	}
	says := fmt.Sprintf("Round-trip time over great-circle distance from each of %d regions to the others, regions from west to east, "+
		"all panels to the same scale; dashed: light in fibre. Medians over a pair's rows.", len(all))
	rows := (len(all) + regionColumns - 1) / regionColumns
	f := frame{title: "Round-trip time over distance, region by region", when: when(d.PairRows()), legend: regionLegend(d, marks, all),
		width: width, height: 104 + regionHeight*vg.Length(rows), caption: []string{says + " " + fateOf(d) + " " + labNote(d)}}
	f.body = func(c draw.Canvas) {
		wide := (c.Max.X - c.Min.X) / regionColumns
		high := (c.Max.Y - c.Min.Y) / vg.Length(rows)
		for i, o := range all {
			x, y := wide*vg.Length(i%regionColumns), high*vg.Length(i/regionColumns)
			o.draw(draw.Crop(c, x, x+wide-(c.Max.X-c.Min.X)-8, c.Max.Y-c.Min.Y-y-high+5, -y))
		}
	}
	return []Figure{f.figure("regions", says)}
}

func regionLegend(d *analysis.Data, marks map[string]mark, all []origin) []legendEntry {
	var groups []string
	failed := false
	for _, o := range all {
		failed = failed || len(o.failedKm) > 0
		for _, p := range o.points {
			groups = append(groups, p.Group)
		}
	}
	var entries []legendEntry
	for _, name := range distinct(groups) {
		entries = append(entries, legendEntry{name: pairTitle(name), width: 9, draw: func(c draw.Canvas, at vg.Point) { marks[name].draw(c, at, 4, 0.8) }})
	}
	if failed {
		entries = append(entries, legendEntry{name: "failed", width: 8, draw: func(c draw.Canvas, at vg.Point) { drawFailure(c, at, 3) }})
	}
	return append(entries, lineEntry("light in fibre", floorStyle()))
}

func origins(d *analysis.Data, marks map[string]mark) (all []origin) {
	by := make([]origin, len(d.Regions))
	var maxKm, maxMs float64
	for i, p := range d.Pairs {
		med := d.Medians()[i]
		switch {
		case p.Within() || math.IsNaN(p.Km):
		case !math.IsNaN(med.RTTMs):
			by[p.From].points = append(by[p.From].points, analysis.Point{Km: p.Km, Y: med.RTTMs, Group: d.Group(p)})
			maxKm, maxMs = max(maxKm, p.Km), max(maxMs, med.RTTMs)
		case med.Failed > 0:
			by[p.From].failedKm = append(by[p.From].failedKm, p.Km)
			maxKm = max(maxKm, p.Km)
		}
	}
	if maxMs == 0 {
		return nil
	}
	order := make([]int, len(d.Regions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return westToEast(d.Regions[a].Longitude, d.Regions[b].Longitude) })
	for _, i := range order {
		o := by[i]
		if o.name = d.Regions[i].ID(); len(o.points)+len(o.failedKm) > 0 {
			o.maxKm, o.maxMs, o.marks = 1.05*maxKm, 1.05*max(maxMs, antipode.FibreRTTMs(maxKm)), marks
			all = append(all, o)
		}
	}
	return all
}

func (o origin) draw(c draw.Canvas) {
	pl := newPlot(7)
	pl.X.Min, pl.X.Max, pl.X.Tick.Marker = 0, o.maxKm, few{" km"}
	pl.Y.Min, pl.Y.Max, pl.Y.Tick.Marker = 0, o.maxMs, few{" ms"}
	pl.Add(newGrid(), o, failures{o.failedKm})
	title := bold(7.5, ink())
	if room := c.Max.X - c.Min.X; title.Width(o.name) > room {
		title.Font.Size *= room / title.Width(o.name)
	}
	fillBaseline(c, title, vg.Point{X: c.Min.X, Y: c.Max.Y - 8}, o.name)
	pl.Draw(draw.Crop(c, 0, 0, 0, -13))
}

// Plot draws the floor and the points.
func (o origin) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := []vg.Point{{X: x(0), Y: y(0)}, {X: x(o.maxKm), Y: y(antipode.FibreRTTMs(o.maxKm))}}
	c.StrokeLines(floorStyle(), c.ClipLinesXY(line)...)
	for _, pt := range o.points {
		o.marks[pt.Group].draw(c, vg.Point{X: x(pt.Km), Y: y(pt.Y)}, 1.7, 0.75)
	}
}

// few marks the ends of a small axis: 0, and one or two round values.
type few struct{ unit string }

func (f few) Ticks(_, most float64) (ticks []plot.Tick) {
	step := roundStep(most / 2.4)
	for i := 0.0; i*step <= most; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: number(int(i*step)) + f.unit})
	}
	return ticks
}
