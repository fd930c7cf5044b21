package charts

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// page is a figure taken apart: what is written where.
type page struct {
	title, when  string
	legend       []legendEntry
	rtt, goodput panel
	caption      []string // paragraphs
}

func newPage(g analysis.Group, marks map[string]mark, m meaning) page {
	base := panel{maxKm: axisKm(g.Rows), failedKm: failedKm(g.Rows), marks: marks, empty: emptiness(g)}
	return page{
		title:   "Round-trip time and goodput over distance, " + pairTitle(g.Name),
		when:    when(g.Rows),
		legend:  legend(g, marks, len(base.failedKm) > 0),
		rtt:     rttPanel(base, g.RTT, m),
		goodput: goodputPanel(base, g.Goodput, m),
		caption: caption(g, m),
	}
}

// alt is the figure in words.
func (p page) alt() string {
	say := func(what string, pl panel) string {
		if pl.formula == "" {
			return fmt.Sprintf("%s: %s, %s.", what, pl.result(), pl.trend.NoFit)
		}
		return fmt.Sprintf("%s: %s, %s.", what, pl.result(), pl.formula)
	}
	return strings.Join(append([]string{
		say("Round-trip time over great-circle distance", p.rtt),
		say("Goodput over great-circle distance", p.goodput),
	}, p.caption...), " ")
}

// axisKm is the right end of the distance axis.
func axisKm(rows []results.Row) float64 {
	var most float64
	for _, r := range rows {
		if r.DistanceKm != nil {
			most = max(most, *r.DistanceKm)
		}
	}
	if most == 0 {
		return 1000
	}
	return 1.03 * most
}

func failedKm(rows []results.Row) (kms []float64) {
	for _, r := range rows {
		if r.Status == results.StatusFailed && r.DistanceKm != nil {
			kms = append(kms, *r.DistanceKm)
		}
	}
	return kms
}

const (
	margin = 20
	gutter = 30 // between the panels
)

func (page) size() (vg.Length, vg.Length) { return width, height }

func (p page) draw(c draw.Canvas) {
	c = draw.Crop(c, margin, -margin, margin-6, -margin+4)
	c.Max.Y = drawTitle(c, p.title, p.when)
	c.Max.Y = drawLegend(c, p.legend)
	c.Min.Y = drawParagraphs(c, sans(9, faint()), p.caption)
	half := (c.Max.X - c.Min.X - gutter) / 2
	p.rtt.draw(draw.Crop(c, 0, -half-gutter, 0, 0))
	p.goodput.draw(draw.Crop(c, half+gutter, 0, 0, 0))
}

// drawTitle returns where the rest begins.
func drawTitle(c draw.Canvas, title, when string) vg.Length {
	baseline := c.Max.Y - 14
	fillBaseline(c, bold(16, ink()), vg.Point{X: c.Min.X, Y: baseline}, title)
	small := sans(10, faint())
	small.XAlign = draw.XRight
	room := c.Max.X - c.Min.X - bold(16, ink()).Width(title) - gutter
	if w := small.Width(when); w > room {
		small.Font.Size *= room / w // a long run id
	}
	fillBaseline(c, small, vg.Point{X: c.Max.X, Y: baseline}, when)
	return baseline - 12
}

// drawParagraphs fills the foot with wrapped text and returns where it begins.
func drawParagraphs(c draw.Canvas, s text.Style, paragraphs []string) vg.Length {
	var lines []string
	for _, paragraph := range paragraphs {
		lines = append(lines, wrap(s, paragraph, c.Max.X-c.Min.X)...)
	}
	leading := 1.3 * s.Font.Size
	for i, line := range lines {
		y := c.Min.Y + leading*vg.Length(len(lines)-1-i) + 2
		fillBaseline(c, s, vg.Point{X: c.Min.X, Y: y}, line)
	}
	return c.Min.Y + leading*vg.Length(len(lines)) + 10
}

// wrap breaks text between words where a line would be wider than width.
func wrap(s text.Style, txt string, width vg.Length) (lines []string) {
	var line string
	for _, word := range strings.Fields(txt) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && s.Width(longer) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}
