package charts

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// Label is a text of a figure with the corners of its box, in points.
type Label struct {
	Text    string
	Corners [4]vg.Point // in order around the box
}

// Labels are all texts of a figure.
func (f Figure) Labels() (labels []Label) {
	w, h := f.sheet.size()
	c := &sized{width: w, height: h}
	f.sheet.draw(draw.New(c))
	at := []turned{{cos: 1}}
	for _, a := range c.Actions {
		now := &at[len(at)-1]
		switch a := a.(type) {
		case *recorder.Push:
			at = append(at, *now)
		case *recorder.Pop:
			at = at[:len(at)-1]
		case *recorder.Translate:
			now.origin = now.place(a.Point)
		case *recorder.Rotate:
			*now = now.rotate(a.Angle)
		case *recorder.FillString:
			labels = append(labels, now.label(a))
		}
	}
	return labels
}

// sized is a canvas that keeps what is drawn on it.
type sized struct {
	recorder.Canvas
	width, height vg.Length
}

func (s *sized) Size() (vg.Length, vg.Length) { return s.width, s.height }

// turned is a system of coordinates.
type turned struct {
	origin   vg.Point
	cos, sin vg.Length
}

func (s turned) place(p vg.Point) vg.Point {
	return vg.Point{X: s.origin.X + p.X*s.cos - p.Y*s.sin, Y: s.origin.Y + p.X*s.sin + p.Y*s.cos}
}

func (s turned) rotate(angle float64) turned {
	sin, cos := math.Sincos(math.Atan2(float64(s.sin), float64(s.cos)) + angle)
	return turned{s.origin, vg.Length(cos), vg.Length(sin)}
}

// label is a text from its baseline to the height of its capitals.
func (s turned) label(a *recorder.FillString) Label {
	style := sans(a.Size, nil)
	style.Font = a.Font
	style.Font.Size = a.Size
	w, h := style.Width(a.String), 0.7*a.Size
	p := a.Point
	return Label{a.String, [4]vg.Point{s.place(p), s.place(vg.Point{X: p.X + w, Y: p.Y}),
		s.place(vg.Point{X: p.X + w, Y: p.Y + h}), s.place(vg.Point{X: p.X, Y: p.Y + h})}}
}
