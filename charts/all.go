package charts

import (
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/analysis"
)

// All draws the charts of a report: those over distance, matrices of the regions,
// distributions, the way of each region's round trips, a map, and goodput over time
// where there are samples. Their names are fit for files.
func All(d *analysis.Data, _ *analysis.Report) []Figure {
	rows := d.PairRows()
	marks := marksOf(analysis.Groups(rows))
	return slices.Concat(distance(rows, meaningOf(d)), matrices(d), distributions(d, marks), regionFigures(d, marks), worlds(d), courses(d))
}

// meaning is what the figures of rows are, in words.
type meaning struct {
	rtt, goodput string // under the panels' headings
	text         string // sentences
}

// ours is what results of Antipode are.
func ours() meaning {
	return meaning{"median, ms", "steady part, logarithmic scale", "RTT: median of UDP probes. Goodput: TCP payload counted at the receiver, after slow start."}
}

// meaningOf is that of the data's sources, which may be other tools' files.
func meaningOf(d *analysis.Data) meaning {
	m := ours()
	var foreign bool
	var texts []string
	for _, s := range d.Sources {
		foreign = foreign || s.Kind != "antipode"
		texts = append(texts, s.Kind+": "+s.Method)
	}
	if foreign {
		m = meaning{"ms", "logarithmic scale", strings.Join(distinct(texts), " ")}
	}
	if d.Rows == nil {
		m.text = "Points are medians of pairs. " + m.text
	}
	return m
}
