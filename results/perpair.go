package results

import (
	"fmt"
	"slices"
	"strings"
)

// perPair leaves a row for each pair of sorted rows: of repetitions the medians
// of those that are ok. Notes say so, by row; empty for a pair with one row.
func perPair(rows []Row) (pairs []Row, notes []string) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && samePair(&rows[n], &rows[0]) {
			n++
		}
		row, note := median(rows[:n])
		pairs, notes = append(pairs, row), append(notes, note)
		rows = rows[n:]
	}
	return pairs, notes
}

func samePair(a, b *Row) bool {
	return a.FromCloud == b.FromCloud && a.FromRegion == b.FromRegion && a.ToCloud == b.ToCloud && a.ToRegion == b.ToRegion
}

// median is a pair's row of its repetitions.
func median(rows []Row) (row Row, note string) {
	if len(rows) == 1 {
		return rows[0], ""
	}
	var flags []string
	var rtts, goodputs []float64
	row = rows[0]
	for _, r := range rows {
		if r.Status != StatusOK {
			continue
		}
		if len(goodputs) == 0 {
			row = r
		}
		rtts, goodputs = append(rtts, *r.RTTP50Ms), append(goodputs, *r.GoodputBps)
		for _, flag := range splitFlags(r.Flags) {
			if !slices.Contains(flags, flag) {
				flags = append(flags, flag)
			}
		}
	}
	if len(goodputs) == 0 {
		return row, fmt.Sprintf("none of %d", len(rows))
	}
	row.RTTP50Ms, row.GoodputBps, row.Flags = middle(rtts), middle(goodputs), strings.Join(flags, ";")
	if len(goodputs) < len(rows) {
		return row, fmt.Sprintf("median of %d, %d are not", len(goodputs), len(rows)-len(goodputs))
	}
	return row, fmt.Sprintf("median of %d", len(rows))
}

func middle(values []float64) *float64 {
	slices.Sort(values)
	m := (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	return &m
}
