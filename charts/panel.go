package charts

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/units"
)

// panel is one of a figure's two plots over distance.
type panel struct {
	heading, unit string
	trend         analysis.Trend
	failedKm      []float64 // distances of the pairs that failed
	maxKm         float64   // right end of the axis
	marks         map[string]mark
	formula       string // of the fitted line, for people
	empty         string // is said where there are no points

	least, most float64               // of the vertical axis, in its own unit
	scale       plot.Normalizer       // of the vertical axis
	ticks       plot.Ticker           // of the vertical axis
	axisValue   func(float64) float64 // from a trend's Y to the axis's unit
	floor       bool                  // draws the light-in-fibre floor
}

func rttPanel(p panel, t analysis.Trend, m meaning) panel {
	p.heading, p.unit, p.trend = "Round-trip time", m.rtt, t
	p.scale, p.ticks, p.floor = plot.LinearScale{}, linearTicks{}, true
	p.axisValue = func(ms float64) float64 { return ms }
	p.most = antipode.FibreRTTMs(p.maxKm)
	if len(t.Points) == 0 {
		p.most *= 1.8 // room above the floor to say so
	}
	for _, pt := range t.Points {
		p.most = max(p.most, pt.Y)
		if t.Fit != nil {
			p.most = max(p.most, t.Fit.At(pt.Km)) // the whole line is seen
		}
	}
	if f := t.Fit; f != nil {
		p.formula = rttFormula(*f)
	}
	p.most *= 1.04
	return p
}

func goodputPanel(p panel, t analysis.Trend, m meaning) panel {
	p.heading, p.unit, p.trend = "Goodput", m.goodput, t
	p.scale, p.ticks = plot.LogScale{}, rateTicks{}
	p.axisValue = func(log10 float64) float64 { return math.Pow(10, log10) }
	p.least, p.most = 1e6, 1e9
	if len(t.Points) > 0 {
		least, most := math.Inf(1), math.Inf(-1)
		for _, pt := range t.Points {
			least, most = min(least, pt.Y), max(most, pt.Y)
		}
		p.least, p.most = rateRange(math.Pow(10, least), math.Pow(10, most))
	}
	if f := t.Fit; f != nil {
		p.formula = fmt.Sprintf("%s × %.2f per 1,000 km", units.Rate(math.Pow(10, f.Intercept)), math.Pow(10, f.Slope*1000))
	}
	return p
}

const minus = "\u2212" // as wide as a plus

// rttFormula writes the line as "3.66 ms + 13.2 ms per 1,000 km". Either part
// may be below zero.
func rttFormula(f analysis.Fit) string {
	start, op := units.Milliseconds(math.Abs(f.Intercept)), "+"
	if f.Intercept < 0 {
		start = minus + start
	}
	if f.Slope < 0 {
		op = minus
	}
	return fmt.Sprintf("%s %s %s per 1,000 km", start, op, units.Milliseconds(math.Abs(f.Slope*1000)))
}

// headingHeight is the room above the plot for two lines of text.
const headingHeight = 34

func (p panel) draw(c draw.Canvas) {
	pl := p.plot()
	below := draw.Crop(c, 0, 0, 0, -headingHeight)
	// The last label may stick out to the right, so that the plots end where
	// the headings do: gutter and margin have room for half a label.
	below.Max.X += below.Max.X - pl.DataCanvas(below).Max.X
	pl.Draw(below)
	p.drawHeading(c, pl.DataCanvas(below))
}

// crowded is how many points hide a line under them; fewer would be hidden by
// it.
const crowded = 150

func (p panel) plot() *plot.Plot {
	pl := newPlot(10.5)
	pl.X.Min, pl.X.Max, pl.X.Tick.Marker = 0, p.maxKm, linearTicks{}
	pl.X.Label.Text = "great-circle distance, km"
	pl.Y.Min, pl.Y.Max, pl.Y.Tick.Marker, pl.Y.Scale = p.least, p.most, p.ticks, p.scale
	if p.floor {
		pl.Add(floorShade{})
	}
	pl.Add(newGrid())
	if p.floor {
		pl.Add(floorLine{})
	}
	if len(p.trend.Points) > crowded {
		pl.Add(points{p}, fitted{p})
	} else {
		pl.Add(fitted{p}, points{p})
	}
	pl.Add(failures{p.failedKm})
	return pl
}

// newPlot is an empty plot in our style, with text of a size.
func newPlot(size vg.Length) *plot.Plot {
	pl := plot.New()
	pl.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&pl.X, &pl.Y} {
		axis.Padding = 0
		axis.LineStyle = draw.LineStyle{Color: faint(), Width: 0.7}
		axis.Tick.LineStyle = axis.LineStyle
		axis.Tick.Length = 4
		axis.Label.Padding = 3
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = sans(size, nil).Font, faint()
		axis.Tick.Label.Font, axis.Tick.Label.Color = sans(size, nil).Font, ink()
	}
	return pl
}

func newGrid() *plotter.Grid {
	grid := plotter.NewGrid()
	grid.Vertical = draw.LineStyle{Color: rule(), Width: 0.6}
	grid.Horizontal = grid.Vertical
	return grid
}

// drawHeading says what the panel shows on the left, and what came out of it on
// the right.
func (p panel) drawHeading(c, data draw.Canvas) {
	first, second := c.Max.Y-11, c.Max.Y-25
	left, right := c.Min.X, data.Max.X
	fillBaseline(c, bold(12.5, ink()), vg.Point{X: left, Y: first}, p.heading)
	fillBaseline(c, sans(10, faint()), vg.Point{X: left, Y: second}, p.unit)

	result, small := bold(11.5, ink()), sans(10, faint())
	result.XAlign, small.XAlign = draw.XRight, draw.XRight
	fillBaseline(c, result, vg.Point{X: right, Y: first}, p.result())
	if p.formula != "" {
		fillBaseline(c, small, vg.Point{X: right, Y: second}, p.formula)
	} else {
		fillBaseline(c, small, vg.Point{X: right, Y: second}, p.trend.NoFit)
	}
}

// result is r and n, as far as there are any.
func (p panel) result() string {
	n := "n = " + number(len(p.trend.Points))
	if p.trend.Fit == nil {
		return n
	}
	r := strings.Replace(fmt.Sprintf("%.2f", p.trend.Fit.R), "-", minus, 1)
	return "r = " + r + ", " + n
}
