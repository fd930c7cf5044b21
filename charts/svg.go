package charts

import (
	"bytes"
	"fmt"
	"html"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas remembers how wide each text is, which vgsvg does not write down.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length // of the texts, in the order of the document
}

func (c *svgCanvas) FillString(f font.Face, at vg.Point, s string) {
	c.widths = append(c.widths, f.Width(s))
	c.Canvas.FillString(f, at, s)
}

// finish adds what vgsvg leaves out. A document holds no fonts (they would be a
// megabyte), so where Liberation Sans is missing there are others to fall back
// on, those of the same metrics first, and every text keeps the width it was
// laid out for. Screen readers get a title and a description.
func (c *svgCanvas) finish(svg []byte, title, description string) []byte {
	svg = bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	svg = c.fixWidths(svg)
	const root = `xmlns:xlink="http://www.w3.org/1999/xlink"`
	named := fmt.Sprintf("%s\n\trole=\"img\" aria-labelledby=\"title desc\">\n"+
		"<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>",
		root, html.EscapeString(title), html.EscapeString(description))
	return bytes.Replace(svg, []byte(root+">"), []byte(named), 1)
}

func (c *svgCanvas) fixWidths(svg []byte) []byte {
	const open = "<text "
	var out bytes.Buffer
	for _, width := range c.widths {
		before, after, _ := bytes.Cut(svg, []byte(open))
		fmt.Fprintf(&out, "%s%stextLength=\"%.5g\" lengthAdjust=\"spacingAndGlyphs\" ", before, open, width.Points())
		svg = after
	}
	out.Write(svg)
	return out.Bytes()
}
