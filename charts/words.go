package charts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
	"github.com/antipode-bench/antipode/units"
)

// pairTitle is a group's name for people: "AWS → GCP".
func pairTitle(group string) string {
	if group == analysis.All {
		return "all cloud pairs"
	}
	from, to, _ := strings.Cut(group, "-")
	return cloudTitle(from) + " \u2192 " + cloudTitle(to)
}

func cloudTitle(cloud string) string {
	switch cloud {
	case "aws", "gcp":
		return strings.ToUpper(cloud)
	case "azure":
		return "Azure"
	}
	return cloud
}

// when names the runs and days the rows are from.
func when(rows []results.Row) string {
	var runs, days []string
	for _, r := range rows {
		runs = append(runs, r.RunID)
		day, _, _ := strings.Cut(r.Timestamp, "T")
		days = append(days, day)
	}
	runs, days = distinct(runs), distinct(days)
	switch {
	case len(rows) == 0:
		return "no rows"
	case len(runs) == 0:
		return strings.Join(slices.Compact([]string{first(days), last(days)}), " to ") // of a file that has no runs
	}
	what := "run " + runs[0]
	if len(runs) > 1 {
		what = fmt.Sprintf("%d runs", len(runs))
	}
	if len(days) == 0 {
		return what
	}
	if first, last := days[0], days[len(days)-1]; first != last {
		return what + ", " + first + " to " + last
	}
	return what + ", " + days[0]
}

func first(sorted []string) string {
	if len(sorted) == 0 {
		return ""
	}
	return sorted[0]
}

func last(sorted []string) string {
	if len(sorted) == 0 {
		return ""
	}
	return sorted[len(sorted)-1]
}

// distinct sorts, without repetitions and empty ones.
func distinct(values []string) []string {
	values = slices.DeleteFunc(values, func(s string) bool { return s == "" })
	slices.Sort(values)
	return slices.Compact(values)
}

// caption is what one must know to read the figure: what became of the pairs,
// what was measured with what, and what the lines are.
func caption(g analysis.Group, m meaning) []string {
	return []string{fate(g), method(g.Rows, m), fmt.Sprintf("Distance: great circle. "+
		"Fitted line: least squares (goodput: through its logarithm), with Pearson's r. "+
		"Light in fibre: along the great circle and back, group index %v.", antipode.FibreGroupIndex)}
}

// fate accounts for every row.
func fate(g analysis.Group) string {
	var parts []string
	if flagged(g.Rows, results.FlagLab) > 0 {
		parts = append(parts, "Measured on the lab, not in a cloud.")
	}
	parts = append(parts, fmt.Sprintf("%s: %s measured, %s, %s skipped.",
		pairsText(g.Rows), number(g.OK), failedText(g.Failed), number(g.Skipped)))
	if n := g.RTT.Absent; n > 0 {
		parts = append(parts, count(n, "measured pair")+" not on the left (no RTT, or no distance).")
	}
	if n := g.Goodput.Absent; n > 0 {
		parts = append(parts, count(n, "measured pair")+" not on the right (no goodput above 0, or no distance).")
	}
	if n := flagged(g.Rows, results.FlagSlowStart); n > 0 {
		parts = append(parts, count(n, "pair")+" did not leave slow start: goodput in a longer test would be higher.")
	}
	if n := len(analysis.Physics(g.Rows)); n > 0 {
		parts = append(parts, count(n, "pair")+" beat light in fibre: a place or a number is in doubt.")
	}
	return strings.Join(parts, " ")
}

// pairsText tells rows from pairs where some are measured more than once.
func pairsText(rows []results.Row) string {
	pairs := map[[4]string]bool{}
	for _, r := range rows {
		pairs[[4]string{r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion}] = true
	}
	text := count(len(pairs), "directed pair")
	if len(rows) > len(pairs) {
		return count(len(rows), "row") + " of " + text
	}
	return text
}

func flagged(rows []results.Row, flag string) int {
	n := 0
	for _, r := range rows {
		if r.HasFlag(flag) {
			n++
		}
	}
	return n
}

func failedText(n int) string {
	if n == 0 {
		return "0 failed"
	}
	return number(n) + " failed (crosses at the foot)"
}

// emptiness says why a group has no points in a panel.
func emptiness(g analysis.Group) string {
	switch {
	case len(g.Rows) == 0:
		return "no rows"
	case g.OK == 0:
		return "no pair was measured"
	}
	return "no pair has this figure and a distance"
}

// method says what the figures are and what they were measured with.
func method(rows []results.Row, m meaning) string {
	var machines, paths, streams []string
	for _, r := range rows {
		machines = append(machines, named(r.FromCloud, r.FromMachine), named(r.ToCloud, r.ToMachine))
		if r.Path != "" {
			paths = append(paths, strings.TrimSuffix(r.Path+" IPv"+r.IPVersion, " IPv"))
		}
		if r.Streams != nil {
			streams = append(streams, number(int(*r.Streams)))
		}
	}
	text := m.text
	if s := distinct(streams); len(s) > 0 {
		text = strings.TrimSuffix(text, ".") + ", streams: " + strings.Join(s, ", ") + "."
	}
	if m := distinct(machines); len(m) > 4 {
		text += fmt.Sprintf(" Machines: %d types.", len(m))
	} else if len(m) > 0 {
		text += " Machines: " + strings.Join(m, ", ") + "."
	}
	if p := distinct(paths); len(p) > 0 {
		text += " Path: " + strings.Join(p, ", ") + "."
	}
	return text
}

func named(cloud, machine string) string {
	if machine == "" {
		return ""
	}
	return cloudTitle(cloud) + " " + machine
}

func number(n int) string { return units.Thousands(strconv.Itoa(n)) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return number(n) + " " + what + "s"
}

// labNote says of a report's data what every chart of the lab must say.
func labNote(d *analysis.Data) string {
	if flagged(d.Rows, results.FlagLab) > 0 {
		return "Measured on the lab, not in a cloud."
	}
	return ""
}
