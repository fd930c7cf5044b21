package charts

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/units"
)

const (
	// comparedMost is how many pairs a chart has room for; of more, the first in the
	// comparison's own order, which begins with what changed.
	comparedMost   = 48
	comparedHeight = 13 // points
)

// Comparison draws for each two sides and metric the ratio of each pair's medians
// with its interval, regressions first.
func Comparison(c *analysis.Comparison) (figures []Figure) {
	for _, m := range c.Metrics {
		if len(m.Pairs) > 0 {
			figures = append(figures, newCompared(c, m).figure(fmt.Sprintf("compare-%s-%d", strings.Split(m.Metric, "_")[0], m.Other)))
		}
	}
	return figures
}

// compared is one metric of two sides.
type compared struct {
	analysis.MetricComparison
	base, other, metric string
	pairs               []analysis.PairComparison // those shown
	low, high           float64                   // of the axis
	atLeast             float64
}

func newCompared(c *analysis.Comparison, m analysis.MetricComparison) compared {
	s := compared{MetricComparison: m, base: c.Sides[m.Base].Name, other: c.Sides[m.Other].Name, metric: "goodput", atLeast: c.AtLeast}
	if m.Metric == analysis.MetricRTT {
		s.metric = "RTT"
	}
	s.pairs = m.Pairs[:min(len(m.Pairs), comparedMost)]
	s.low, s.high = 0.9, 1.1
	for _, p := range s.pairs {
		for _, v := range []*float64{&p.Ratio, p.Low, p.High} {
			if v != nil && *v > 0 && !math.IsInf(*v, 0) {
				s.low, s.high = min(s.low, *v), max(s.high, *v)
			}
		}
	}
	s.low, s.high = max(s.low/1.05, 0.05), min(s.high*1.05, 20) // beyond, a line leaves the plot
	return s
}

// verdictMark is how a pair looks: colour and shape say what became of it.
func verdictMark(verdict string) mark {
	all := palette()
	switch verdict {
	case analysis.Regression:
		return all[4] // vermilion
	case analysis.Improvement:
		return all[0] // blue
	case analysis.TooFew:
		return mark{color.NRGBA{0xff, 0xff, 0xff, 0xff}, circle}
	}
	return mark{color.NRGBA{0x9a, 0x9a, 0x9a, 0xff}, circle}
}

func (s compared) figure(name string) Figure {
	says := fmt.Sprintf("Ratio of the medians of a pair's repetitions, %s over %s, with its 95 %% interval; a pair's change counts if it is significant "+
		"(Mann-Whitney's U test, corrected for %s) and %.3g %% or more.", s.other, s.base, count(s.Tested, "pair"), 100*s.atLeast)
	which := fmt.Sprintf("%s: %d worse, %d better, %d without a difference, %d with too few repetitions to tell.", count(len(s.Pairs), "pair"),
		s.Count(analysis.Regression), s.Count(analysis.Improvement), s.Count(analysis.Same), s.Count(analysis.TooFew))
	if len(s.pairs) < len(s.Pairs) {
		which += fmt.Sprintf(" Shown: the first %d.", len(s.pairs))
	}
	f := frame{title: fmt.Sprintf("%s%s of %s over %s", strings.ToUpper(s.metric[:1]), s.metric[1:], short(s.other), short(s.base)),
		legend: verdictLegend(), caption: []string{says, which},
		width: width, height: 130 + comparedHeight*vg.Length(len(s.pairs)), body: s.draw}
	return f.figure(name, says+" "+which)
}

// short keeps a title within its line.
func short(name string) string {
	const most = 36
	if r := []rune(name); len(r) > most {
		return "…" + string(r[len(r)-most:])
	}
	return name
}

func verdictLegend() (entries []legendEntry) {
	for _, v := range []struct{ verdict, name string }{{analysis.Regression, "worse"}, {analysis.Improvement, "better"},
		{analysis.Same, "no difference"}, {analysis.TooFew, "too few repetitions to tell"}} {
		entries = append(entries, legendEntry{name: v.name, width: 9, draw: func(c draw.Canvas, at vg.Point) { verdictMark(v.verdict).draw(c, at, 4, 1) }})
	}
	return entries
}

func (s compared) draw(c draw.Canvas) {
	names, figures := sans(9, ink()), sans(9, faint())
	var nameWidth, figureWidth vg.Length
	for _, p := range s.pairs {
		nameWidth, figureWidth = max(nameWidth, names.Width(s.name(p))), max(figureWidth, figures.Width(s.medians(p)))
	}
	pl := newPlot(9)
	pl.X.Scale, pl.X.Tick.Marker, pl.X.Label.Text = plot.LogScale{}, ratioTicks{}, fmt.Sprintf("%s, times that of %s", s.metric, short(s.base))
	pl.X.Min, pl.X.Max = s.low, s.high
	pl.Y.Min, pl.Y.Max = -0.5, float64(len(s.pairs))-0.5
	pl.HideY()
	pl.Add(newGrid(), s)
	middle := draw.Crop(c, nameWidth+8, -figureWidth-8, 0, 0)
	pl.Draw(middle)
	data := pl.DataCanvas(middle)
	_, y := pl.Transforms(&data)
	figures.XAlign = draw.XRight
	for i, p := range s.pairs {
		at := y(float64(len(s.pairs)-1-i)) - 3
		fillBaseline(c, names, vg.Point{X: c.Min.X, Y: at}, s.name(p))
		fillBaseline(c, figures, vg.Point{X: c.Max.X, Y: at}, s.medians(p))
	}
}

func (s compared) name(p analysis.PairComparison) string { return p.From + " to " + p.To }

func (s compared) medians(p analysis.PairComparison) string {
	text := units.Rate
	if s.metric == "RTT" {
		text = units.Milliseconds
	}
	return text(p.BaseMedian) + " \u2192 " + text(p.OtherMedian)
}

// Plot draws the pairs from the top down.
func (s compared) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: ink(), Width: 1}, x(1), c.Min.Y, x(1), c.Max.Y)
	for i, pair := range s.pairs {
		m := verdictMark(pair.Verdict)
		at := y(float64(len(s.pairs) - 1 - i))
		if pair.Low != nil && pair.High != nil {
			from, to := x(min(max(*pair.Low, s.low), s.high)), x(min(max(*pair.High, s.low), s.high))
			c.StrokeLine2(draw.LineStyle{Color: m.darker(1), Width: 1.2}, from, at, to, at)
		}
		if pair.Ratio > 0 {
			m.draw(c, vg.Point{X: x(min(max(pair.Ratio, s.low), s.high)), Y: at}, 3.2, 1)
		}
	}
}

// ratioTicks marks round ratios around 1.
type ratioTicks struct{}

func (ratioTicks) Ticks(least, most float64) (ticks []plot.Tick) {
	steps := []float64{0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20}
	if most/least < 6 {
		steps = []float64{0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4}
	}
	if most/least < 1.8 {
		steps = []float64{0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6}
	}
	for _, v := range steps {
		if v >= least && v <= most {
			ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.3g", v)})
		}
	}
	return ticks
}
