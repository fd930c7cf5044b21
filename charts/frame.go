package charts

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// frame is a sheet with a title and a legend above its body, and sentences
// below.
type frame struct {
	title, when   string
	legend        []legendEntry
	caption       []string  // paragraphs
	width, height vg.Length // of the whole
	body          func(draw.Canvas)
}

func (f frame) size() (vg.Length, vg.Length) { return f.width, f.height }

func (f frame) draw(c draw.Canvas) {
	c = draw.Crop(c, margin, -margin, margin-6, -margin+4)
	c.Max.Y = drawTitle(c, f.title, f.when)
	if len(f.legend) > 0 {
		c.Max.Y = drawLegend(c, f.legend)
	}
	c.Min.Y = drawParagraphs(c, sans(9, faint()), f.caption)
	f.body(c)
}

// figure is the frame as a chart with a name, and what it shows in words.
func (f frame) figure(name, alt string) Figure {
	return Figure{Name: name, Title: f.title, Alt: alt, sheet: f}
}

// rectangle is a path around a box.
func rectangle(x, y, w, h vg.Length) vg.Path {
	return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + w, Y: y + h}}.Path()
}
