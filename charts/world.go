package charts

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/golang/geo/s2"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
)

// What the map shows: from the Bering Strait eastwards all around, from beyond
// Tierra del Fuego to the north of Norway.
const (
	mapWest, mapEast   = -169.0, 191.0
	mapSouth, mapNorth = -56.0, 84.0
	// mapParallel has true proportions.
	mapParallel = 35.0
	// mapMost is how many arcs can be told from each other; of more, the slowest.
	mapMost = 100
)

// world is a map with an arc for each two regions, in the colour of the slower
// direction's goodput.
type world struct {
	data  *analysis.Data
	arcs  []arc          // the fastest first
	of    int            // arcs there would be
	index map[[2]int]int // of arcs, while they are added
	bands bands
}

// arc joins two regions.
type arc struct {
	a, b int // index data.Regions
	bps  float64
}

// worlds is the map, if any goodput has two places.
func worlds(d *analysis.Data) []Figure {
	w := &world{data: d, index: map[[2]int]int{}}
	for i, p := range d.Pairs {
		if v := d.Medians()[i].GoodputBps; w.placed(p) && !math.IsNaN(v) {
			w.add(arc{min(p.From, p.To), max(p.From, p.To), v})
		}
	}
	if len(w.arcs) == 0 {
		return nil
	}
	slices.SortStableFunc(w.arcs, func(x, y arc) int { return cmp.Compare(y.bps, x.bps) })
	w.of = len(w.arcs)
	w.arcs = w.arcs[max(0, w.of-mapMost):]
	var values []float64
	for _, a := range w.arcs {
		values = append(values, a.bps)
	}
	w.bands = newBands(values, true, rateLabel)
	return []Figure{w.figure()}
}

func (w *world) placed(p analysis.Pair) bool {
	return !p.Within() && !w.data.Regions[p.From].Unplaced && !w.data.Regions[p.To].Unplaced
}

// add takes one direction in; the slower one counts.
func (w *world) add(x arc) {
	if i, there := w.index[[2]int{x.a, x.b}]; there {
		w.arcs[i].bps = min(w.arcs[i].bps, x.bps)
		return
	}
	w.index[[2]int{x.a, x.b}] = len(w.arcs)
	w.arcs = append(w.arcs, x)
}

func (w *world) figure() Figure {
	which := fmt.Sprintf("All %s pairs of regions.", number(w.of))
	title := "Goodput between regions"
	if w.of > len(w.arcs) {
		which = fmt.Sprintf("The slowest %d of %s pairs of regions: all at once would hide each other.", len(w.arcs), number(w.of))
		title = "The slowest paths between regions"
	}
	says := which + " Each arc is the great circle between two regions; its colour is the goodput of the slower direction, median over a pair's rows."
	f := frame{title: title, when: when(w.data.PairRows()), width: width, height: 6.2 * vg.Inch,
		legend: w.bands.legend(func(c draw.Canvas, at vg.Point, fill color.Color) {
			c.StrokeLine2(draw.LineStyle{Color: fill, Width: 3}, at.X-6, at.Y, at.X+6, at.Y)
		}),
		caption: []string{says + " " + fateOf(w.data) + " Land: Natural Earth. " + labNote(w.data)}, body: w.draw}
	return f.figure("map", says)
}

// chart is a canvas with the map's projection: equirectangular, true at mapParallel.
type chart struct {
	draw.Canvas
	left, bottom, perDegree vg.Length // per degree of longitude
}

func newChart(c draw.Canvas) chart {
	tall := 1 / math.Cos(mapParallel*math.Pi/180)
	perDegree := min((c.Max.X-c.Min.X)/(mapEast-mapWest), (c.Max.Y-c.Min.Y)/vg.Length((mapNorth-mapSouth)*tall))
	wide, high := perDegree*(mapEast-mapWest), perDegree*vg.Length((mapNorth-mapSouth)*tall)
	m := chart{c, (c.Min.X + c.Max.X - wide) / 2, c.Max.Y - high, perDegree}
	m.Rectangle = vg.Rectangle{Min: vg.Point{X: m.left, Y: m.bottom}, Max: vg.Point{X: m.left + wide, Y: m.bottom + high}}
	return m
}

func (m chart) at(d degrees) vg.Point {
	return vg.Point{X: m.left + m.perDegree*vg.Length(d.longitude-mapWest),
		Y: m.bottom + m.perDegree*vg.Length((d.latitude-mapSouth)/math.Cos(mapParallel*math.Pi/180))}
}

// within is a place's longitude on the map.
func onMap(longitude float64) float64 {
	if longitude < mapWest {
		return longitude + 360
	}
	return longitude
}

func (w *world) draw(c draw.Canvas) {
	m := newChart(c)
	c.SetColor(color.NRGBA{0xf4, 0xf7, 0xf9, 0xff})
	c.Fill(m.Path())
	for _, r := range land() {
		for _, turn := range []float64{-360, 0, 360} {
			m.fillLand(r, turn)
		}
	}
	for _, a := range w.arcs {
		w.drawArc(m, a)
	}
	w.drawRegions(m)
}

// fillLand draws what the map shows of an outline that was turned so far.
func (m chart) fillLand(r []degrees, turn float64) {
	var points []vg.Point
	for _, d := range r {
		d.longitude += turn
		points = append(points, m.at(d))
	}
	if clipped := m.ClipPolygonXY(points); len(clipped) > 2 {
		m.FillPolygon(color.NRGBA{0xdd, 0xdf, 0xdc, 0xff}, clipped)
	}
}

// drawArc draws the great circle in two parts where it leaves the map at one
// side and comes back at the other.
func (w *world) drawArc(m chart, a arc) {
	line := greatCircle(w.data.Regions[a.a], w.data.Regions[a.b])
	style := draw.LineStyle{Color: w.bands.color(a.bps), Width: 1.5}
	rim := draw.LineStyle{Color: rim(), Width: 2.6}
	for _, turn := range []float64{-360, 0, 360} {
		var points []vg.Point
		for _, d := range line {
			d.longitude += turn
			points = append(points, m.at(d))
		}
		clipped := m.ClipLinesXY(points)
		m.StrokeLines(rim, clipped...)
		m.StrokeLines(style, clipped...)
	}
}

// greatCircle goes from one region to another in steps of two degrees at most.
// Its longitudes go on beyond 180°.
func greatCircle(from, to antipode.Region) (line []degrees) {
	a := s2.PointFromLatLng(s2.LatLngFromDegrees(from.Latitude, from.Longitude))
	b := s2.PointFromLatLng(s2.LatLngFromDegrees(to.Latitude, to.Longitude))
	steps := max(1, int(math.Ceil(a.Distance(b).Degrees()/2)))
	for i := range steps + 1 {
		ll := s2.LatLngFromPoint(s2.Interpolate(float64(i)/float64(steps), a, b))
		d := degrees{ll.Lng.Degrees(), ll.Lat.Degrees()}
		if i == 0 {
			d.longitude = onMap(d.longitude)
		} else {
			d.longitude = near(d.longitude, line[i-1].longitude)
		}
		line = append(line, d)
	}
	return line
}

// drawRegions marks every region that has a place, and names those that have room
// for it, the ones with the most arcs first.
func (w *world) drawRegions(m chart) {
	arcs := map[int]int{}
	for _, a := range w.arcs {
		arcs[a.a]++
		arcs[a.b]++
	}
	var order []int
	for i, r := range w.data.Regions {
		if !r.Unplaced {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(arcs[b], arcs[a]) })
	var taken []vg.Rectangle
	const dot = 2.4
	for _, i := range order {
		at := m.place(w.data.Regions[i])
		taken = append(taken, box(at.X-dot, at.Y-dot, 2*dot, 2*dot))
	}
	for n, i := range order {
		at := m.place(w.data.Regions[i])
		m.SetColor(color.White)
		m.Fill(circle(at, dot+0.8))
		m.SetColor(ink())
		m.Fill(circle(at, dot))
		taken = m.label(at, w.data.Regions[i].ID(), n, taken)
	}
}

func (m chart) place(r antipode.Region) vg.Point {
	return m.at(degrees{onMap(r.Longitude), r.Latitude})
}

func box(x, y, w, h vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + w, Y: y + h}}
}

// label writes a name beside a dot, where there is room, and says what is taken
// then. own is the index of the dot.
func (m chart) label(at vg.Point, name string, own int, taken []vg.Rectangle) []vg.Rectangle {
	s := sans(7, ink())
	w, h := s.Width(name), s.Font.Size
	for _, where := range []vg.Rectangle{
		box(at.X+4, at.Y-h/2, w, h), box(at.X-4-w, at.Y-h/2, w, h),
		box(at.X-w/2, at.Y+4, w, h), box(at.X-w/2, at.Y-4-h, w, h),
	} {
		overlaps := func(i int, r vg.Rectangle) bool {
			return i != own && where.Min.X < r.Max.X && r.Min.X < where.Max.X && where.Min.Y < r.Max.Y && r.Min.Y < where.Max.Y
		}
		free := where.Min.X > m.Min.X && where.Max.X < m.Max.X && where.Min.Y > m.Min.Y && where.Max.Y < m.Max.Y
		for i, r := range taken {
			free = free && !overlaps(i, r)
		}
		if free {
			m.SetColor(color.NRGBA{0xff, 0xff, 0xff, 0xb0})
			m.Fill(rectangle(where.Min.X-1, where.Min.Y-0.5, w+2, h+1))
			fillBaseline(m.Canvas, s, vg.Point{X: where.Min.X, Y: where.Min.Y + 1.5}, name)
			return append(taken, where)
		}
	}
	return taken
}
