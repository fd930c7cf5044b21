package charts

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
)

// rim is around lines that cross others.
func rim() color.Color { return color.NRGBA{0xff, 0xff, 0xff, 0xc0} }

// inflations shows RTT over the time that light takes in fibre: over distance, and
// how it is distributed.
func inflations(d *analysis.Data, marks map[string]mark, lines []curve) Figure {
	says := fmt.Sprintf("RTT over the time of light in fibre along the great circle and back, group index %v, of pairs %d km apart and more; "+
		"1 is the least possible.", antipode.FibreGroupIndex, nearKm)
	f := frame{title: "Round-trip time over light's own time in fibre", when: when(d.PairRows()), width: width, height: height,
		legend: curveLegend(lines, true), caption: []string{says + " " + fateOf(d) + " " + labNote(d)}}
	right := share{"Distribution", "times light in fibre, logarithmic scale", lines, timesTicks{}, nil}
	f.body = func(c draw.Canvas) {
		half := (c.Max.X - c.Min.X - gutter) / 2
		drawInflation(draw.Crop(c, 0, -half-gutter, 0, 0), d, marks)
		right.draw(draw.Crop(c, half+gutter, 0, 0, 0))
	}
	alt := says
	for _, l := range lines {
		alt += fmt.Sprintf(" %s: median %.2f, nine tenths up to %.2f, n = %d.", pairTitle(l.name), l.at(0.5), l.at(0.9), len(l.values))
	}
	return f.figure("inflation", alt)
}

func drawInflation(c draw.Canvas, d *analysis.Data, marks map[string]mark) {
	pl := newPlot(10.5)
	pl.X.Min, pl.X.Tick.Marker, pl.X.Label.Text = 0, linearTicks{}, "great-circle distance, km"
	pl.Y.Scale, pl.Y.Tick.Marker = plot.LogScale{}, timesTicks{}
	s := &inflationPoints{marks: marks}
	least, most := 1.0, 2.0
	for i, p := range d.Pairs {
		if v := inflationOf(p, d.Medians()[i]); !p.Within() && !math.IsNaN(v) && v > 0 {
			s.points = append(s.points, analysis.Point{Km: p.Km, Y: v, Group: d.Group(p)})
			pl.X.Max, least, most = max(pl.X.Max, 1.03*p.Km), min(least, v), max(most, v)
		}
	}
	pl.Y.Min, pl.Y.Max = least/1.15, most*1.15
	pl.Add(newGrid(), s)
	pl.Draw(draw.Crop(c, 0, -8, 0, -headingHeight))
	fillBaseline(c, bold(12.5, ink()), vg.Point{X: c.Min.X, Y: c.Max.Y - 11}, "Over distance")
	fillBaseline(c, sans(10, faint()), vg.Point{X: c.Min.X, Y: c.Max.Y - 25}, "times light in fibre, logarithmic scale")
}

// inflationPoints draws a glyph per pair, and the line that light draws.
type inflationPoints struct {
	points []analysis.Point
	marks  map[string]mark
}

func (s *inflationPoints) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(floorStyle(), c.Min.X, y(1), c.Max.X, y(1))
	r, opacity := glyphSize(len(s.points))
	for _, i := range rand.New(rand.NewPCG(0, 0)).Perm(len(s.points)) {
		pt := s.points[i]
		s.marks[pt.Group].draw(c, vg.Point{X: x(pt.Km), Y: y(pt.Y)}, r, opacity)
	}
}

// timesTicks marks 1, 1.5, 2, 3, 5 and so on.
type timesTicks struct{}

func (timesTicks) Ticks(least, most float64) (ticks []plot.Tick) {
	for power := math.Pow(10, math.Floor(math.Log10(least))); power <= most; power *= 10 {
		for _, m := range []float64{1, 1.5, 2, 3, 5, 7} {
			if v := m * power; v >= least && v <= most {
				ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.3g", v)})
			}
		}
	}
	return ticks
}
