package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// Small panels, so many across.
const (
	courseColumns = 4
	courseMost    = 24
	courseHeight  = 104 // points
)

// course is how the goodput of one test went on.
type course struct {
	name   string
	series results.Series
	steady float64 // bit/s, of the row
}

// courses shows goodput over time within tests, of the slowest ones if there are
// many; nothing without samples.
func courses(d *analysis.Data) []Figure {
	var all []course
	for _, s := range d.Series {
		o := d.Obs[s.Obs]
		if len(s.AtS) > 1 && !math.IsNaN(o.GoodputBps) {
			all = append(all, course{d.Name(d.Pairs[o.Pair]), s.Series, o.GoodputBps})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b course) int { return cmp.Compare(a.steady, b.steady) })
	shown := all[:min(len(all), courseMost)]
	says := fmt.Sprintf("Goodput in each interval of a throughput test, counted at the receiver; dashed: the steady part's, which is the row's figure. %s.", whichTests(len(shown), len(all)))
	rows := (len(shown) + courseColumns - 1) / courseColumns
	f := frame{title: "Goodput over time within tests", when: when(d.PairRows()), width: width, height: 80 + courseHeight*vg.Length(rows),
		caption: []string{says + " " + labNote(d)}}
	f.body = func(c draw.Canvas) {
		wide := (c.Max.X - c.Min.X) / courseColumns
		high := (c.Max.Y - c.Min.Y) / vg.Length(rows)
		for i, one := range shown {
			x, y := wide*vg.Length(i%courseColumns), high*vg.Length(i/courseColumns)
			one.draw(draw.Crop(c, x, x+wide-(c.Max.X-c.Min.X)-10, c.Max.Y-c.Min.Y-y-high+6, -y))
		}
	}
	return []Figure{f.figure("courses", says)}
}

func whichTests(shown, all int) string {
	if shown < all {
		return fmt.Sprintf("The slowest %d of %s tests", shown, number(all))
	}
	return "The slowest test first"
}

func (s course) draw(c draw.Canvas) {
	pl := newPlot(8)
	pl.X.Tick.Marker, pl.Y.Tick.Marker = secondTicks{}, fewRates{}
	n := len(s.series.AtS)
	pl.X.Min, pl.X.Max = 0, float64(s.series.AtS[n-1])
	for _, v := range s.series.GoodputBps {
		pl.Y.Max = max(pl.Y.Max, 1.1*float64(v))
	}
	pl.Y.Min, pl.Y.Max = 0, max(pl.Y.Max, 1.1*s.steady)
	pl.Add(newGrid(), s)
	title := bold(8, ink())
	if room := c.Max.X - c.Min.X; title.Width(s.name) > room {
		title.Font.Size *= room / title.Width(s.name)
	}
	fillBaseline(c, title, vg.Point{X: c.Min.X, Y: c.Max.Y - 9}, s.name)
	pl.Draw(draw.Crop(c, 0, 0, 0, -14))
}

// Plot draws the course itself: an interval's goodput is level until its end.
func (s course) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(floorStyle(), c.Min.X, y(s.steady), c.Max.X, y(s.steady))
	var line []vg.Point
	before := 0.0
	for i, at := range s.series.AtS {
		v := y(float64(s.series.GoodputBps[i]))
		line = append(line, vg.Point{X: x(before), Y: v}, vg.Point{X: x(float64(at)), Y: v})
		before = float64(at)
	}
	c.StrokeLines(draw.LineStyle{Color: palette()[0].color, Width: 1.2}, c.ClipLinesXY(line)...)
}

// secondTicks marks three or so moments.
type secondTicks struct{}

func (secondTicks) Ticks(least, most float64) (ticks []plot.Tick) {
	step := roundStep((most - least) / 3)
	for i := 0.0; i*step <= most; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 3, 64) + " s"})
	}
	return ticks
}

// fewRates marks two or three rates from 0 on.
type fewRates struct{}

func (fewRates) Ticks(least, most float64) []plot.Tick {
	step := roundStep((most - least) / 2.5)
	var ticks []plot.Tick
	for i := 0.0; i*step <= most; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: rateLabel(i * step)})
	}
	return ticks
}
