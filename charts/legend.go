package charts

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode/analysis"
)

// legendEntry is a sample, drawn around the middle of its box, and its name.
type legendEntry struct {
	name  string
	width vg.Length // of the sample
	draw  func(c draw.Canvas, middle vg.Point)
}

// legend names what the figure of g may show: the cloud pairs with how many of
// their pairs were measured, and the lines it has.
func legend(g analysis.Group, marks map[string]mark, failures bool) []legendEntry {
	var entries []legendEntry
	for _, sub := range analysis.Groups(g.Rows)[1:] {
		m := marks[sub.Name]
		entries = append(entries, legendEntry{
			name:  fmt.Sprintf("%s (%s)", pairTitle(sub.Name), number(sub.OK)),
			width: 9,
			draw:  func(c draw.Canvas, middle vg.Point) { m.draw(c, middle, 4, 0.8) },
		})
	}
	if failures {
		entries = append(entries, legendEntry{name: "failed", width: 8, draw: func(c draw.Canvas, middle vg.Point) {
			drawFailure(c, middle, 3)
		}})
	}
	if g.RTT.Fit != nil || g.Goodput.Fit != nil {
		entries = append(entries, lineEntry("fitted line", fitStyle()))
	}
	return append(entries, lineEntry("light in fibre", floorStyle()))
}

func lineEntry(name string, s draw.LineStyle) legendEntry {
	const half = 11
	return legendEntry{name: name, width: 2 * half, draw: func(c draw.Canvas, middle vg.Point) {
		c.StrokeLine2(s, middle.X-half, middle.Y, middle.X+half, middle.Y)
	}}
}

// drawLegend sets the entries in as many lines as they take and returns where
// the rest begins.
func drawLegend(c draw.Canvas, entries []legendEntry) vg.Length {
	const sampleGap, entryGap, leading = 5, 14, 16
	s := sans(10, ink())
	at := vg.Point{X: c.Min.X, Y: c.Max.Y - 10}
	for _, e := range entries {
		advance := e.width + sampleGap + s.Width(e.name)
		if at.X > c.Min.X && at.X+advance > c.Max.X {
			at = vg.Point{X: c.Min.X, Y: at.Y - leading}
		}
		e.draw(c, vg.Point{X: at.X + e.width/2, Y: at.Y + 3.5})
		fillBaseline(c, s, vg.Point{X: at.X + e.width + sampleGap, Y: at.Y}, e.name)
		at.X += advance + entryGap
	}
	return at.Y - 16
}
