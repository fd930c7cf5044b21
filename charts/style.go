package charts

import (
	"image/color"
	"math"
	"slices"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode/analysis"
)

// Greys, from text to grid.
func ink() color.Color   { return color.NRGBA{0x22, 0x22, 0x22, 0xff} }
func faint() color.Color { return color.NRGBA{0x5a, 0x5a, 0x5a, 0xff} }
func rule() color.Color  { return color.NRGBA{0xe3, 0xe3, 0xe3, 0xff} }
func shade() color.Color { return color.NRGBA{0xf1, 0xf1, 0xf1, 0xff} }

// sans is a text style of the embedded Liberation Sans.
func sans(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

func bold(size vg.Length, c color.Color) text.Style {
	s := sans(size, c)
	s.Font.Weight = xfont.WeightBold
	return s
}

// mark is how the points of a cloud pair look: colour and shape both tell them
// apart, so that either is enough.
type mark struct {
	color color.NRGBA
	shape shape
}

// shape is the outline of a glyph of radius r around a point.
type shape func(at vg.Point, r vg.Length) vg.Path

// palette holds the colours of Okabe and Ito ("Color Universal Design", 2008),
// which stay apart for colour-blind eyes, in an order that is apart in
// greyscale too, each with a shape. The first four are for the pairs of two
// clouds: from the first to itself, to the other, back, and the other to itself.
func palette() []mark {
	return []mark{
		{color.NRGBA{0x00, 0x72, 0xb2, 0xff}, circle},                 // blue
		{color.NRGBA{0xe6, 0x9f, 0x00, 0xff}, polygon(3, math.Pi/2)},  // orange
		{color.NRGBA{0x00, 0x9e, 0x73, 0xff}, polygon(3, -math.Pi/2)}, // bluish green
		{color.NRGBA{0xcc, 0x79, 0xa7, 0xff}, polygon(4, math.Pi/4)},  // reddish purple
		{color.NRGBA{0xd5, 0x5e, 0x00, 0xff}, polygon(4, 0)},          // vermilion
		{color.NRGBA{0x56, 0xb4, 0xe9, 0xff}, polygon(5, math.Pi/2)},  // sky blue
		{color.NRGBA{0x44, 0x44, 0x44, 0xff}, polygon(6, 0)},          // black
		{color.NRGBA{0xf0, 0xe4, 0x42, 0xff}, polygon(5, -math.Pi/2)}, // yellow
		{color.NRGBA{0x00, 0x72, 0xb2, 0xff}, polygon(3, 0)},          // blue again
	}
}

// marksOf gives each group its mark, the same in every figure of the rows.
func marksOf(groups []analysis.Group) map[string]mark {
	names := []string{"aws-aws", "aws-gcp", "gcp-aws", "gcp-gcp"}
	for _, g := range groups {
		if g.Name != analysis.All && !slices.Contains(names, g.Name) {
			names = append(names, g.Name)
		}
	}
	marks := make(map[string]mark)
	for i, name := range names {
		marks[name] = palette()[i%len(palette())]
	}
	return marks
}

func circle(at vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: at.X + r, Y: at.Y})
	p.Arc(at, r, 0, 2*math.Pi)
	p.Close()
	return p
}

// polygon is a regular polygon with a corner at the angle of start, about as
// large as a circle of the same radius.
func polygon(corners int, start float64) shape {
	return func(at vg.Point, r vg.Length) vg.Path {
		turn := 2 * math.Pi / float64(corners)
		r *= vg.Length(math.Sqrt(2 * math.Pi / (float64(corners) * math.Sin(turn))))
		var p vg.Path
		for i := range corners {
			sin, cos := math.Sincos(start + float64(i)*turn)
			corner := vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}
			if i == 0 {
				p.Move(corner)
			} else {
				p.Line(corner)
			}
		}
		p.Close()
		return p
	}
}

// outlined is the least radius that has room for an outline.
const outlined = 2

// draw fills the glyph, translucent so that others show through, and outlines
// it in a darker tone so that it stands out of a cloud of its own kind.
func (m mark) draw(c draw.Canvas, at vg.Point, r vg.Length, opacity float64) {
	path := m.shape(at, r)
	fill := m.color
	fill.A = uint8(255 * opacity)
	c.SetColor(fill)
	c.Fill(path)
	if r < outlined {
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: m.darker(opacity), Width: max(0.3, r/8)})
	c.Stroke(path)
}

func (m mark) darker(opacity float64) color.Color {
	tone := func(v uint8) uint8 { return uint8(float64(v) * 0.6) }
	return color.NRGBA{tone(m.color.R), tone(m.color.G), tone(m.color.B), uint8(255 * min(1, opacity+0.2))}
}

// glyphSize is the radius and opacity for n points: room for 6 and for 6,000.
func glyphSize(n int) (r vg.Length, opacity float64) {
	crowd := math.Pow(50/float64(max(n, 50)), 0.2) // 1 down to 0.39 at 5,852
	return vg.Length(max(1.6, 4*crowd)), max(0.4, 0.8*crowd)
}

// fillBaseline writes text with its baseline at pt, whatever vg takes for the
// bottom of a line.
func fillBaseline(c draw.Canvas, s text.Style, pt vg.Point, txt string) {
	pt.Y += s.FontExtents().Ascent - s.Font.Size
	c.FillText(s, pt, txt)
}
