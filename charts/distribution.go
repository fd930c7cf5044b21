package charts

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/units"
)

// curve is the cumulative distribution of a cloud pair's figures.
type curve struct {
	name   string
	mark   mark
	dashes []vg.Length
	values []float64 // sorted
}

// dashes tell lines apart where colours can't.
func dashes(i int) []vg.Length {
	return [][]vg.Length{nil, {7, 3}, {2, 2}, {9, 3, 2, 3}}[i%4]
}

// distributions are those of RTT, of goodput, and of RTT over the light's own
// time in fibre.
func distributions(d *analysis.Data, marks map[string]mark) (figures []Figure) {
	rtt := curves(d, marks, func(_ analysis.Pair, m analysis.PairMedian) float64 { return m.RTTMs })
	goodput := curves(d, marks, func(_ analysis.Pair, m analysis.PairMedian) float64 { return m.GoodputBps })
	if len(rtt)+len(goodput) > 0 {
		left := share{"Round-trip time", "ms, logarithmic scale", rtt, msTicks{}, units.Milliseconds}
		right := share{"Goodput", "logarithmic scale", goodput, acrossTicks{}, units.Rate}
		figures = append(figures, twoShares(d, "distributions", "How round-trip time and goodput are distributed",
			[2]share{left, right}, "Each line: the share of a cloud pair's pairs of regions that have at most so much; medians over a pair's rows."))
	}
	inflation := curves(d, marks, inflationOf)
	if len(inflation) > 0 {
		figures = append(figures, inflations(d, marks, inflation))
	}
	return figures
}

// nearKm is the distance up to which the time over fibre says more of buildings
// than of paths.
const nearKm = 100

// inflationOf is how many times as long as light in fibre the RTT is.
func inflationOf(p analysis.Pair, m analysis.PairMedian) float64 {
	if math.IsNaN(p.Km) || p.Km < nearKm {
		return math.NaN()
	}
	return m.RTTMs / antipode.FibreRTTMs(p.Km)
}

// curves are those of the cloud pairs that have the figure, by name.
func curves(d *analysis.Data, marks map[string]mark, figure func(analysis.Pair, analysis.PairMedian) float64) (list []curve) {
	by := map[string][]float64{}
	for i, p := range d.Pairs {
		if v := figure(p, d.Medians()[i]); !p.Within() && !math.IsNaN(v) && v > 0 {
			by[d.Group(p)] = append(by[d.Group(p)], v)
		}
	}
	var names []string
	for name := range by {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		slices.Sort(by[name])
		list = append(list, curve{name, marks[name], dashes(i), by[name]})
	}
	return list
}

// share is a panel of curves from 0 to 100 %.
type share struct {
	heading, unit string
	curves        []curve
	ticks         plot.Ticker
	text          func(float64) string
}

func twoShares(d *analysis.Data, name, title string, shares [2]share, says string) Figure {
	f := frame{title: title, when: when(d.PairRows()), width: width, height: height, legend: curveLegend(slices.Concat(shares[0].curves, shares[1].curves), false),
		caption: []string{says + " " + fateOf(d) + " " + labNote(d)}}
	f.body = func(c draw.Canvas) {
		half := (c.Max.X - c.Min.X - gutter) / 2
		shares[0].draw(draw.Crop(c, 0, -half-gutter, 0, 0))
		shares[1].draw(draw.Crop(c, half+gutter, 0, 0, 0))
	}
	alt := says
	for _, s := range shares {
		for _, line := range s.curves {
			alt += fmt.Sprintf(" %s, %s: median %s, n = %d.", s.heading, pairTitle(line.name), s.text(line.at(0.5)), len(line.values))
		}
	}
	return f.figure(name, alt)
}

// at is the nearest rank's value.
func (l curve) at(q float64) float64 {
	return l.values[min(len(l.values)-1, int(q*float64(len(l.values))))]
}

func (l curve) style() draw.LineStyle {
	return draw.LineStyle{Color: l.mark.color, Width: 2, Dashes: l.dashes}
}

// curveLegend names each cloud pair once, with its glyph if there are points too.
func curveLegend(lines []curve, glyphs bool) (entries []legendEntry) {
	seen := map[string]bool{}
	for _, l := range lines {
		if !seen[l.name] {
			seen[l.name] = true
			e := lineEntry(fmt.Sprintf("%s (%s)", pairTitle(l.name), number(len(l.values))), l.style())
			line := e.draw
			e.draw = func(c draw.Canvas, middle vg.Point) {
				line(c, middle)
				if glyphs {
					l.mark.draw(c, middle, 4, 1)
				}
			}
			entries = append(entries, e)
		}
	}
	return entries
}

func fateOf(d *analysis.Data) string {
	var ok, failed, others int
	for i, p := range d.Pairs {
		switch m := d.Medians()[i]; {
		case p.Within():
		case m.OK > 0:
			ok++
		case m.Failed > 0:
			failed++
		default:
			others++
		}
	}
	return fmt.Sprintf("%s: %s measured, %s failed, %s skipped.", count(ok+failed+others, "directed pair"), number(ok), number(failed), number(others))
}

func (s share) draw(c draw.Canvas) {
	pl := newPlot(10.5)
	least, most := math.Inf(1), 0.0
	for _, l := range s.curves {
		least, most = min(least, l.values[0]), max(most, l.values[len(l.values)-1])
	}
	if len(s.curves) == 0 {
		least, most = 1, 10
	}
	pl.X.Scale, pl.X.Tick.Marker = plot.LogScale{}, s.ticks
	pl.X.Min, pl.X.Max = rateRange(least*1.3, most/1.3)
	pl.Y.Min, pl.Y.Max, pl.Y.Tick.Marker = 0, 1, percentTicks{}
	pl.Y.Label.Text = "share of pairs"
	pl.Add(newGrid(), steps{s.curves})
	below := draw.Crop(c, 0, -8, 0, -headingHeight)
	pl.Draw(below)
	fillBaseline(c, bold(12.5, ink()), vg.Point{X: c.Min.X, Y: c.Max.Y - 11}, s.heading)
	fillBaseline(c, sans(10, faint()), vg.Point{X: c.Min.X, Y: c.Max.Y - 25}, s.unit)
	if len(s.curves) == 0 {
		drawNotice(pl.DataCanvas(below), "no pair has this figure")
	}
}

// steps draws curves.
type steps struct{ curves []curve }

func (s steps) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, l := range s.curves {
		line := []vg.Point{{X: x(l.values[0]), Y: y(0)}}
		for i, v := range l.values {
			line = append(line, vg.Point{X: x(v), Y: line[len(line)-1].Y}, vg.Point{X: x(v), Y: y(float64(i+1) / float64(len(l.values)))})
		}
		c.StrokeLines(l.style(), c.ClipLinesXY(line)...)
	}
}

// percentTicks marks quarters.
type percentTicks struct{}

func (percentTicks) Ticks(_, _ float64) (ticks []plot.Tick) {
	for i := range 5 {
		ticks = append(ticks, plot.Tick{Value: float64(i) / 4, Label: strconv.Itoa(25*i) + " %"})
	}
	return ticks
}

// acrossTicks are as rateTicks, for names that stand side by side: over more than
// a decade and a half only powers of ten have one.
type acrossTicks struct{}

func (acrossTicks) Ticks(least, most float64) []plot.Tick {
	ticks := rateTicks{}.Ticks(least, most)
	for i, t := range ticks {
		if power := math.Round(math.Log10(t.Value)); most/least > 30 && math.Abs(t.Value/math.Pow(10, power)-1) > 1e-9 {
			ticks[i].Label = ""
		}
	}
	return ticks
}

// msTicks are as rateTicks, in ms.
type msTicks struct{}

func (msTicks) Ticks(least, most float64) []plot.Tick {
	ticks := rateTicks{}.Ticks(least, most)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = units.Thousands(strconv.FormatFloat(ticks[i].Value, 'f', -1, 64))
		}
	}
	return ticks
}
