package analysis

import (
	"math"
	"slices"

	"github.com/antipode-bench/antipode/results"
)

// All is the name of the group that holds every row.
const All = "all"

// Group is the rows of one directed cloud pair, or all rows.
type Group struct {
	Name                string // "aws-gcp" is from aws to gcp; or All
	Rows                []results.Row
	OK, Failed, Skipped int   // rows by status
	RTT                 Trend // Y is the median RTT in ms
	Goodput             Trend // Y is log10 of the goodput in bit/s
}

// GroupOf names the group of a row, "from-to".
func GroupOf(r results.Row) string { return r.FromCloud + "-" + r.ToCloud }

// Groups returns All first and then each directed cloud pair that has a row,
// whatever its status, by name.
func Groups(rows []results.Row) []Group {
	byName := make(map[string][]results.Row)
	var names []string
	for _, r := range rows {
		name := GroupOf(r)
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], r)
	}
	slices.Sort(names)
	groups := []Group{newGroup(All, rows)}
	for _, name := range names {
		groups = append(groups, newGroup(name, byName[name]))
	}
	return groups
}

func newGroup(name string, rows []results.Row) Group {
	g := Group{Name: name, Rows: rows}
	for _, r := range rows {
		switch r.Status {
		case results.StatusOK:
			g.OK++
		case results.StatusSkipped:
			g.Skipped++
		default:
			g.Failed++
		}
	}
	g.RTT = trend(rows, func(r results.Row) *float64 { return r.RTTP50Ms })
	g.Goodput = trend(rows, func(r results.Row) *float64 { return log10(r.GoodputBps) })
	return g
}

// log10 is nil where there is no logarithm.
func log10(v *float64) *float64 {
	if v == nil || *v <= 0 {
		return nil
	}
	return new(math.Log10(*v))
}
