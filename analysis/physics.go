package analysis

import (
	"fmt"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
	"github.com/antipode-bench/antipode/units"
)

// Finding is one thing to know about one row.
type Finding struct {
	Row  results.Row
	Flag string // as of results.LightFlag
	Text string // a sentence's worth, without the full stop
}

// Physics returns the rows whose smallest RTT is less than light needs over
// their distance.
func Physics(rows []results.Row) []Finding {
	var findings []Finding
	for _, r := range rows {
		switch flag := results.LightFlag(r); flag {
		case results.BelowVacuumFloor:
			findings = append(findings, tooFast(r, flag, antipode.VacuumRTTMs(*r.DistanceKm), "vacuum"))
		case results.BelowFibreFloor:
			findings = append(findings, tooFast(r, flag, antipode.FibreRTTMs(*r.DistanceKm), "fibre"))
		}
	}
	return findings
}

func tooFast(r results.Row, flag string, floorMs float64, medium string) Finding {
	text := fmt.Sprintf("%s:%s to %s:%s: an RTT of %s is less than the %s that light takes in %s over %s km",
		r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion,
		units.Milliseconds(*r.RTTMinMs), units.Milliseconds(floorMs), medium, units.Kilometres(*r.DistanceKm))
	return Finding{Row: r, Flag: flag, Text: text}
}
