package results

import (
	"slices"
	"strings"

	"github.com/antipode-bench/antipode"
)

// Flags of rows whose smallest RTT is less than light needs over the distance.
const (
	BelowVacuumFloor = "below-vacuum-floor" // impossible: the number or a place is wrong
	BelowFibreFloor  = "below-fibre-floor"  // suspect: no fibre along the great circle is as fast
)

// LightFlag is the gravest of the two flags that the row's figures deserve, or
// empty. Regions at one place have no floor.
func LightFlag(r Row) string {
	switch {
	case r.RTTMinMs == nil || r.DistanceKm == nil:
		return ""
	case *r.RTTMinMs < antipode.VacuumRTTMs(*r.DistanceKm):
		return BelowVacuumFloor
	case *r.RTTMinMs < antipode.FibreRTTMs(*r.DistanceKm):
		return BelowFibreFloor
	}
	return ""
}

// withFlag adds a flag to flags unless it is there.
func withFlag(flags, flag string) string {
	all := strings.FieldsFunc(flags, func(c rune) bool { return c == ';' })
	if flag == "" || slices.Contains(all, flag) {
		return flags
	}
	return strings.Join(append(all, flag), ";")
}
