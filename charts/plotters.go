package charts

import (
	"image/color"
	"math"
	"math/rand/v2"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode"
)

// floorShade fills what lies below the light-in-fibre floor.
type floorShade struct{}

func (floorShade) Plot(c draw.Canvas, p *plot.Plot) {
	origin, end := floorEnds(c, p)
	c.FillPolygon(shade(), []vg.Point{origin, end, {X: end.X, Y: origin.Y}})
}

// floorLine draws the floor and, where there is room, its name under it.
type floorLine struct{}

func (floorLine) Plot(c draw.Canvas, p *plot.Plot) {
	origin, end := floorEnds(c, p)
	c.StrokeLine2(floorStyle(), origin.X, origin.Y, end.X, end.Y)

	const share, gap, needed = 0.97, 5, 34 // along the line; points
	rise, run := end.Y-origin.Y, end.X-origin.X
	if rise < needed {
		return // the legend has the name too
	}
	s := sans(9.5, faint())
	s.XAlign, s.YAlign = draw.XRight, draw.YTop
	s.Rotation = math.Atan2(float64(rise), float64(run))
	sin, cos := math.Sincos(s.Rotation)
	c.FillText(s, vg.Point{
		X: origin.X + share*run + gap*vg.Length(sin),
		Y: origin.Y + share*rise - gap*vg.Length(cos),
	}, "faster than light in fibre")
}

func floorEnds(c draw.Canvas, p *plot.Plot) (origin, end vg.Point) {
	x, y := p.Transforms(&c)
	return vg.Point{X: x(0), Y: y(0)}, vg.Point{X: x(p.X.Max), Y: y(antipode.FibreRTTMs(p.X.Max))}
}

func floorStyle() draw.LineStyle {
	return draw.LineStyle{Color: faint(), Width: 1.1, Dashes: []vg.Length{5, 3}}
}

// points draws a glyph per row in an order that no cloud pair wins: a shuffle,
// the same every time.
type points struct{ panel }

func (pts points) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	all := pts.trend.Points
	r, opacity := glyphSize(len(all))
	for _, i := range rand.New(rand.NewPCG(0, 0)).Perm(len(all)) {
		at := vg.Point{X: x(all[i].Km), Y: y(pts.axisValue(all[i].Y))}
		pts.marks[all[i].Group].draw(c, at, r, opacity)
	}
	if len(all) == 0 {
		drawNotice(c, pts.empty)
	}
}

// drawNotice writes across the upper part of an empty plot.
func drawNotice(c draw.Canvas, notice string) {
	s := bold(14, faint())
	s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
	at := vg.Point{X: c.Center().X, Y: c.Min.Y + 0.78*(c.Max.Y-c.Min.Y)}
	const pad = 6
	half := s.Width(notice)/2 + pad
	low, high := at.Y-s.Font.Size/2-pad, at.Y+s.Font.Size/2+pad
	c.FillPolygon(color.White, []vg.Point{
		{X: at.X - half, Y: low}, {X: at.X + half, Y: low}, {X: at.X + half, Y: high}, {X: at.X - half, Y: high},
	})
	c.FillText(s, at, notice)
}

// fitted draws the least-squares line over the distances that were measured and
// no further, with a white rim to stand out of many points.
type fitted struct{ panel }

func (f fitted) Plot(c draw.Canvas, p *plot.Plot) {
	if f.trend.Fit == nil {
		return
	}
	from, to := math.Inf(1), math.Inf(-1)
	for _, pt := range f.trend.Points {
		from, to = min(from, pt.Km), max(to, pt.Km)
	}
	x, y := p.Transforms(&c)
	at := func(km float64) vg.Point {
		return vg.Point{X: x(km), Y: y(f.axisValue(f.trend.Fit.At(km)))}
	}
	for _, line := range c.ClipLinesXY([]vg.Point{at(from), at(to)}) {
		if len(f.trend.Points) > crowded {
			c.StrokeLines(draw.LineStyle{Color: color.White, Width: 4}, line)
		}
		c.StrokeLines(fitStyle(), line)
	}
}

func fitStyle() draw.LineStyle { return draw.LineStyle{Color: ink(), Width: 1.8} }

// failures marks at the foot the distances of pairs that failed, so that what
// was not measured is seen where it is missing.
type failures struct{ kms []float64 }

func (f failures) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	r, _ := glyphSize(len(f.kms))
	for _, km := range f.kms {
		drawFailure(c, vg.Point{X: x(km), Y: c.Min.Y + 7}, 0.8*r)
	}
}

func drawFailure(c draw.Canvas, at vg.Point, r vg.Length) {
	s := draw.LineStyle{Color: ink(), Width: 0.4 * r}
	c.StrokeLine2(s, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(s, at.X-r, at.Y+r, at.X+r, at.Y-r)
}
