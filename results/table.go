package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/antipode-bench/antipode/units"
)

// maxStatus is the room for a status and its reason, in characters.
const maxStatus = 80

// Table writes rows for people: one line per pair, sorted by its ends, aligned,
// with a unit at every figure. A pair without figures says why, as far as there is
// room: the file has the whole reason. One with flags says which. Of repetitions it has the medians.
func Table(w io.Writer, rows []Row) error {
	lines := [][]string{{"FROM", "TO", "KM", "RTT P50", "GOODPUT", "STATUS"}}
	pairs, notes := perPair(sorted(rows))
	for i, r := range pairs {
		lines = append(lines, []string{
			r.FromCloud + ":" + r.FromRegion, r.ToCloud + ":" + r.ToRegion,
			cell(r.DistanceKm, units.Kilometres), cell(r.RTTP50Ms, units.Milliseconds), cell(r.GoodputBps, units.Rate),
			statusCell(r, notes[i]),
		})
	}
	_, err := io.WriteString(w, align(lines))
	return err
}

// statusCell has the reason, or the remarks without which the figures would be
// misread. That a row is the lab's is no news: all of them are.
func statusCell(r Row, note string) string {
	if r.Error != "" && note != "" {
		return clip(r.Status+" ("+note+"): "+r.Error, maxStatus)
	}
	if r.Error != "" {
		return clip(r.Status+": "+r.Error, maxStatus)
	}
	remarks := slices.DeleteFunc(splitFlags(r.Flags), func(flag string) bool { return flag == FlagLab })
	words := []string{r.Status}
	if note != "" {
		words = append(words, note)
	}
	return strings.Join(append(words, remarks...), ", ")
}

func sorted(rows []Row) []Row {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(a.FromCloud, b.FromCloud), cmp.Compare(a.FromRegion, b.FromRegion),
			cmp.Compare(a.ToCloud, b.ToCloud), cmp.Compare(a.ToRegion, b.ToRegion),
		)
	})
}

// clip shortens s to at most n characters, the last one an ellipsis.
func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

func cell(v *float64, format func(float64) string) string {
	if v == nil {
		return "-"
	}
	return format(*v)
}

// terminal is how wide most are, in characters.
const terminal = 80

// align pads every column but the last: names to the left, figures to the right.
// Where the names are so long that a pair that is ok would not fit a terminal,
// the columns move together.
func align(lines [][]string) string {
	const firstFigure, lastColumn = 2, 5
	gap := "  "
	var widths [lastColumn]int
	for _, line := range lines {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
	}
	total := len(StatusOK)
	for _, width := range widths {
		total += width + len(gap)
	}
	if total > terminal {
		gap = " "
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
