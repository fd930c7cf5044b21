package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table writes rows for people: one line per pair, sorted by its ends, aligned,
// with a unit at every figure. A pair without figures says why.
func Table(w io.Writer, rows []Row) error {
	lines := [][]string{{"FROM", "TO", "KM", "RTT P50", "GOODPUT", "STATUS"}}
	for _, r := range sorted(rows) {
		status := r.Status
		if r.Error != "" {
			status += ": " + r.Error
		}
		lines = append(lines, []string{
			r.FromCloud + ":" + r.FromRegion, r.ToCloud + ":" + r.ToRegion,
			cell(r.DistanceKm, Kilometres), cell(r.RTTP50Ms, Milliseconds), cell(r.GoodputBps, Rate),
			status,
		})
	}
	_, err := io.WriteString(w, align(lines))
	return err
}

func sorted(rows []Row) []Row {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(a.FromCloud, b.FromCloud), cmp.Compare(a.FromRegion, b.FromRegion),
			cmp.Compare(a.ToCloud, b.ToCloud), cmp.Compare(a.ToRegion, b.ToRegion),
		)
	})
}

func cell(v *float64, format func(float64) string) string {
	if v == nil {
		return "-"
	}
	return format(*v)
}

// align pads every column but the last: names to the left, figures to the right.
func align(lines [][]string) string {
	const firstFigure, lastColumn, gap = 2, 5, "  "
	var widths [lastColumn]int
	for _, line := range lines {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		for i, width := range widths {
			if i < firstFigure {
				width = -width
			}
			fmt.Fprintf(&b, "%*s%s", width, line[i], gap)
		}
		b.WriteString(line[lastColumn] + "\n")
	}
	return b.String()
}

// Kilometres writes a distance without its unit, in whole km with separated
// thousands: "16,984".
func Kilometres(km float64) string {
	digits := strconv.FormatFloat(km, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Milliseconds writes a time: "212 ms", "8.41 ms", "0.093 ms".
func Milliseconds(ms float64) string { return figure(ms) + " ms" }

// Rate writes a data rate, given in bit/s, in decimal units: "94.2 Mbit/s".
func Rate(bps float64) string {
	units := []string{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"}
	unit := 0
	for unit < len(units)-1 && bps >= 999.5 { // 999.5 would round to 1000
		bps /= 1000
		unit++
	}
	return figure(bps) + " " + units[unit]
}

// figure keeps three digits, but none after the third decimal.
func figure(v float64) string {
	decimals := 3
	switch {
	case v == 0:
		decimals = 0
	case v >= 99.95:
		decimals = 0
	case v >= 9.995:
		decimals = 1
	case v >= 0.9995:
		decimals = 2
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
