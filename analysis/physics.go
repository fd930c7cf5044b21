package analysis

import (
	"fmt"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// What a row can contradict.
const (
	BelowVacuumFloor = "below-vacuum-floor" // impossible: the number or a place is wrong
	BelowFibreFloor  = "below-fibre-floor"  // suspect: no fibre along the great circle is as fast
)

// Finding is one thing to know about one row.
type Finding struct {
	Row  results.Row
	Flag string
	Text string // a sentence's worth, without the full stop
}

// Physics returns the rows whose smallest RTT is less than light needs over
// their distance, with the gravest flag of each. Co-located regions have no
// floor.
func Physics(rows []results.Row) []Finding {
	var findings []Finding
	for _, r := range rows {
		if r.RTTMinMs == nil || r.DistanceKm == nil {
			continue
		}
		vacuumMs, fibreMs := antipode.VacuumRTTMs(*r.DistanceKm), antipode.FibreRTTMs(*r.DistanceKm)
		switch rtt := *r.RTTMinMs; {
		case rtt < vacuumMs:
			findings = append(findings, tooFast(r, BelowVacuumFloor, vacuumMs, "vacuum"))
		case rtt < fibreMs:
			findings = append(findings, tooFast(r, BelowFibreFloor, fibreMs, "fibre"))
		}
	}
	return findings
}

func tooFast(r results.Row, flag string, floorMs float64, medium string) Finding {
	text := fmt.Sprintf("%s:%s to %s:%s: an RTT of %s is less than the %s that light takes in %s over %s km",
		r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion,
		results.Milliseconds(*r.RTTMinMs), results.Milliseconds(floorMs), medium, results.Kilometres(*r.DistanceKm))
	return Finding{Row: r, Flag: flag, Text: text}
}
