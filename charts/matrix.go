package charts

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/units"
)

// The size of a matrix' cells, in points.
const (
	cellMost  = 58
	cellTexts = 25 // from here on a cell has its figure in it
	cellGap   = 0.6
)

// matrix shows a figure of every pair of regions, from west to east.
type matrix struct {
	data  *analysis.Data
	order []int       // index data.Regions
	cells map[int]int // from * regions + to: index data.Pairs
	bands bands
	value func(analysis.PairMedian) float64
	short func(float64) string // as short as fits into a cell
}

// matrices are those of RTT and of goodput, each if anything has the figure.
func matrices(d *analysis.Data) (figures []Figure) {
	for _, f := range []struct {
		name, title, what string
		rising            bool
		value             func(analysis.PairMedian) float64
		text, short       func(float64) string
	}{
		{"rtt-matrix", "Round-trip time from each region to each other", "RTT", false,
			func(m analysis.PairMedian) float64 { return m.RTTMs }, units.Milliseconds, func(v float64) string { return fmt.Sprintf("%.3g", v) }},
		{"goodput-matrix", "Goodput from each region to each other", "goodput", true,
			func(m analysis.PairMedian) float64 { return m.GoodputBps }, rateLabel, shortMbps},
	} {
		m := newMatrix(d, f.rising, f.value, f.text, f.short)
		if m != nil {
			figures = append(figures, m.figure(f.name, f.title, f.what))
		}
	}
	return figures
}

// shortMbps is a rate in Mbit/s, which the caption says.
func shortMbps(bps float64) string { return units.Thousands(fmt.Sprintf("%.0f", bps/1e6)) }

func newMatrix(d *analysis.Data, rising bool, value func(analysis.PairMedian) float64, text, short func(float64) string) *matrix {
	m := &matrix{data: d, cells: map[int]int{}, value: value, short: short}
	var values []float64
	for i, p := range d.Pairs {
		m.cells[p.From*len(d.Regions)+p.To] = i
		if v := value(d.Medians()[i]); !math.IsNaN(v) && !p.Within() {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil
	}
	m.bands = newBands(values, rising, text)
	for i := range d.Regions {
		m.order = append(m.order, i)
	}
	slices.SortStableFunc(m.order, func(a, b int) int { return westToEast(d.Regions[a].Longitude, d.Regions[b].Longitude) })
	return m
}

// westToEast orders longitudes, beginning in the middle of the Pacific.
func westToEast(a, b float64) int {
	const pacific = -170
	turn := func(v float64) float64 { return math.Mod(v-pacific+720, 360) }
	switch x, y := turn(a), turn(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func (m *matrix) figure(name, title, what string) Figure {
	cell, font := m.cell()
	label := m.labelWidth(font)
	side := cell * vg.Length(len(m.order))
	f := frame{title: title, when: when(m.data.PairRows()), legend: m.bands.legend(square), caption: m.caption(what, cell)}
	if m.failed() > 0 {
		f.legend = append(f.legend, legendEntry{name: "failed", width: 12, draw: func(c draw.Canvas, at vg.Point) { drawFailure(c, at, 3.5) }})
	}
	f.legend = append(f.legend, legendEntry{name: "not measured", width: 12, draw: func(c draw.Canvas, at vg.Point) { square(c, at, rule()) }})
	f.width = max(min(width, label+side+2*margin), 8*vg.Inch)
	lines := vg.Length(len(wrap(sans(9, faint()), f.caption[0], f.width-2*margin)) + len(wrap(sans(9, faint()), f.caption[1], f.width-2*margin)))
	legendLines := 1 + m.legendWidth(f.legend)/(f.width-2*margin)
	f.height = label + side + 62 + 18*vg.Length(math.Ceil(float64(legendLines))) + 12*lines
	f.body = func(c draw.Canvas) { m.draw(c, cell, font, label) }
	return f.figure(name, fmt.Sprintf("A matrix of %d regions, from in rows and to in columns, coloured by %s. %s", len(m.order), what, f.caption[0]))
}

func (m *matrix) legendWidth(entries []legendEntry) (w vg.Length) {
	for _, e := range entries {
		w += e.width + 19 + sans(10, ink()).Width(e.name)
	}
	return w
}

// cell is the size of the cells and of the labels' font.
func (m *matrix) cell() (cell, font vg.Length) {
	font = 8.5
	for {
		room := width - 2*margin - m.labelWidth(font)
		if cell = min(cellMost, room/vg.Length(len(m.order))); cell >= font*1.02 || font <= 5 {
			return cell, font
		}
		font -= 0.25
	}
}

func (m *matrix) labelWidth(font vg.Length) (w vg.Length) {
	for _, r := range m.data.Regions {
		w = max(w, sans(font, ink()).Width(r.ID()))
	}
	return w + 6
}

func (m *matrix) caption(what string, cell vg.Length) []string {
	count := map[string]int{}
	for i, p := range m.data.Pairs {
		switch med := m.data.Medians()[i]; {
		case p.Within():
		case !math.IsNaN(m.value(med)):
			count["measured"]++
		case med.Failed > 0:
			count["failed"]++
		default:
			count["without"]++
		}
	}
	n := len(m.order)
	says := fmt.Sprintf("Rows: from, columns: to; regions from west to east. Of %s directed pairs %s measured, %s failed, %s have no %s.",
		number(n*(n-1)), number(count["measured"]), number(count["failed"]), number(n*(n-1)-count["measured"]-count["failed"]), what)
	how := "Colours: seven classes with about as many pairs in each; medians over a pair's rows."
	if cell >= cellTexts {
		how += map[string]string{"RTT": " Figures: ms.", "goodput": " Figures: Mbit/s."}[what]
	}
	return []string{says, how + " " + labNote(m.data)}
}

func (m *matrix) failed() (n int) {
	for _, med := range m.data.Medians() {
		if math.IsNaN(m.value(med)) && med.Failed > 0 {
			n++
		}
	}
	return n
}

func (m *matrix) draw(c draw.Canvas, cell, font, label vg.Length) {
	left, top := c.Min.X+label, c.Max.Y-label
	for row, from := range m.order {
		y := top - cell*vg.Length(row+1)
		m.drawLabel(c, vg.Point{X: left - 4, Y: y + cell/2}, font, from, 0)
		m.drawLabel(c, vg.Point{X: left + cell*(vg.Length(row)+0.5), Y: top + 4}, font, from, math.Pi/2)
		for column, to := range m.order {
			m.drawCell(c, left+cell*vg.Length(column), y, cell, from, to)
		}
	}
}

// drawLabel names a region left of its row, or above its column.
func (m *matrix) drawLabel(c draw.Canvas, at vg.Point, font vg.Length, region int, rotation float64) {
	s := sans(font, ink())
	s.YAlign, s.XAlign, s.Rotation = draw.YCenter, draw.XRight, rotation
	if rotation != 0 {
		s.XAlign = draw.XLeft
	}
	c.FillText(s, at, m.data.Regions[region].ID())
}

func (m *matrix) drawCell(c draw.Canvas, x, y, cell vg.Length, from, to int) {
	pair, there := m.cells[from*len(m.data.Regions)+to]
	if from == to {
		return
	}
	v, failed := math.NaN(), false
	if there {
		med := m.data.Medians()[pair]
		v, failed = m.value(med), med.Failed > 0
	}
	fill := color.NRGBA{0xe3, 0xe3, 0xe3, 0xff}
	if !math.IsNaN(v) {
		fill = m.bands.color(v)
	}
	middle := vg.Point{X: x + cell/2, Y: y + cell/2}
	if math.IsNaN(v) && failed {
		drawFailure(c, middle, min(4, cell/3))
		return
	}
	c.SetColor(fill)
	c.Fill(rectangle(x+cellGap/2, y+cellGap/2, cell-cellGap, cell-cellGap))
	if math.IsNaN(v) || cell < cellTexts {
		return
	}
	s := sans(min(10, cell/3.2), ink())
	if s.XAlign, s.YAlign = draw.XCenter, draw.YCenter; dark(fill) {
		s.Color = color.White
	}
	c.FillText(s, middle, m.short(v))
}
