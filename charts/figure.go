package charts

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// The size of a figure: two panels side by side that stay readable across the
// width of a printed page.
const (
	width  = 10.5 * vg.Inch
	height = 5.9 * vg.Inch
	dpi    = 192 // of PNGs, twice a screen's 96
)

// Figure is one chart, ready to be drawn.
type Figure struct {
	Name  string // for a file: "all", a directed cloud pair such as "aws-gcp", or what it shows: "rtt-matrix"
	Title string // for people
	Alt   string // what the chart shows, in words
	sheet sheet
}

// sheet is what a figure draws.
type sheet interface {
	size() (width, height vg.Length)
	draw(draw.Canvas)
}

// Distance returns the charts over distance: "all" first, then one for each
// directed cloud pair that has a row, measured or not, by name. Rows without
// figures make honest charts that say so. The order of the rows does not matter.
func Distance(rows []results.Row) []Figure { return distance(rows, ours()) }

func distance(rows []results.Row, m meaning) []Figure {
	groups := analysis.Groups(slices.SortedStableFunc(slices.Values(rows), byPair))
	marks := marksOf(groups)
	var figures []Figure
	for _, g := range groups {
		p := newPage(g, marks, m)
		figures = append(figures, Figure{Name: g.Name, Title: p.title, Alt: p.alt(), sheet: p})
	}
	return figures
}

func byPair(a, b results.Row) int {
	return cmp.Or(
		cmp.Compare(a.FromCloud, b.FromCloud), cmp.Compare(a.FromRegion, b.FromRegion),
		cmp.Compare(a.ToCloud, b.ToCloud), cmp.Compare(a.ToRegion, b.ToRegion),
		cmp.Compare(a.Timestamp, b.Timestamp),
	)
}

// SVG draws the figure as an SVG document, the same bytes every time.
func (f Figure) SVG() ([]byte, error) {
	c := &svgCanvas{Canvas: vgsvg.New(f.sheet.size())}
	f.sheet.draw(draw.New(c))
	svg, err := encode(c)
	if err != nil {
		return nil, fmt.Errorf("draw %s.svg: %w", f.Name, err)
	}
	return c.finish(svg, f.Title, f.Alt), nil
}

// PNG draws the figure as a PNG image, one over distance with 2,016 by 1,133
// pixels.
func (f Figure) PNG() ([]byte, error) {
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(f.sheet.size()), vgimg.UseDPI(dpi))}
	f.sheet.draw(draw.New(c))
	png, err := encode(c)
	if err != nil {
		return nil, fmt.Errorf("draw %s.png: %w", f.Name, err)
	}
	return png, nil
}

func encode(c io.WriterTo) ([]byte, error) {
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}
