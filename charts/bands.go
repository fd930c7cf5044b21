package charts

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bandColors are seven of viridis' (Smith and van der Walt, 2015), the best first.
// Each is darker than the one before: they stay in order in greyscale and for
// colour-blind eyes.
func bandColors() []color.NRGBA {
	return []color.NRGBA{
		{0xfd, 0xe7, 0x25, 0xff}, {0x90, 0xd7, 0x43, 0xff}, {0x35, 0xb7, 0x79, 0xff}, {0x21, 0x91, 0x8c, 0xff},
		{0x31, 0x68, 0x8e, 0xff}, {0x44, 0x39, 0x83, 0xff}, {0x44, 0x01, 0x54, 0xff},
	}
}

// bands cut figures into seven classes with about as many in each, at round
// values.
type bands struct {
	edges  []float64 // ascending, six at most
	rising bool      // more is better
	text   func(float64) string
}

func newBands(values []float64, rising bool, text func(float64) string) bands {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(values)
	b := bands{rising: rising, text: text}
	if len(values) == 0 {
		return b
	}
	n := len(bandColors())
	for i := 1; i < n; i++ {
		edge := twoDigits(values[i*len(values)/n])
		if edge > values[0] && (len(b.edges) == 0 || edge > b.edges[len(b.edges)-1]) {
			b.edges = append(b.edges, edge)
		}
	}
	return b
}

// twoDigits rounds to two significant digits.
func twoDigits(v float64) float64 {
	if v <= 0 {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Round(v/power) * power
}

// of is the class of a value: 0 is the lowest.
func (b bands) of(v float64) int {
	n, _ := slices.BinarySearch(b.edges, math.Nextafter(v, math.Inf(1)))
	return n
}

// color spreads the classes there are over all colours.
func (b bands) color(v float64) color.NRGBA {
	class := b.of(v)
	if b.rising {
		class = len(b.edges) - class
	}
	all := bandColors()
	if len(b.edges) == 0 {
		return all[len(all)/2]
	}
	return all[class*(len(all)-1)/len(b.edges)]
}

// name is the class in words: "under 20 ms", "20 – 50 ms".
func (b bands) name(class int) string {
	switch {
	case len(b.edges) == 0:
		return "measured"
	case class == 0:
		return "under " + b.text(b.edges[0])
	case class == len(b.edges):
		return b.text(b.edges[class-1]) + " and more"
	}
	return b.text(b.edges[class-1]) + " to " + b.text(b.edges[class])
}

// legend has a swatch for each class, the best first.
func (b bands) legend(swatch func(c draw.Canvas, middle vg.Point, fill color.Color)) (entries []legendEntry) {
	for i := range len(b.edges) + 1 {
		class := i
		if b.rising {
			class = len(b.edges) - i
		}
		at := 0.0
		if class > 0 {
			at = b.edges[class-1]
		}
		fill := b.color(at)
		entries = append(entries, legendEntry{name: b.name(class), width: 12,
			draw: func(c draw.Canvas, middle vg.Point) { swatch(c, middle, fill) }})
	}
	return entries
}

func square(c draw.Canvas, middle vg.Point, fill color.Color) {
	const half = 5
	c.SetColor(fill)
	c.Fill(rectangle(middle.X-half, middle.Y-half, 2*half, 2*half))
}

// dark says whether white text is readable on a colour, black text elsewhere
// (relative luminance, WCAG 2.2).
func dark(c color.NRGBA) bool {
	linear := func(v uint8) float64 { return math.Pow(float64(v)/255, 2.2) }
	return 0.2126*linear(c.R)+0.7152*linear(c.G)+0.0722*linear(c.B) < 0.18
}
