package results

import (
	"slices"
	"strings"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/probe/trace"
)

// FlagLab marks what was measured on the lab, whose delays and rates are made
// up: no cloud had a part in it, whatever the row's regions are called.
const FlagLab = "lab"

// FlagSpot marks pairs with a spot machine at an end, of which clouds don't say
// that they are as good as others.
const FlagSpot = "spot"

// FlagLabBusy marks what was measured while the computer that runs the lab was
// too busy for its delays and rates to be exact.
const FlagLabBusy = "lab-busy"

// FlagSlowStart marks a goodput whose test ended before slow start did: a
// longer test would have found more.
const FlagSlowStart = trace.FlagSlowStart

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

// HasFlag says whether the row has the flag.
func (r Row) HasFlag(flag string) bool { return slices.Contains(splitFlags(r.Flags), flag) }

func splitFlags(flags string) []string {
	return strings.FieldsFunc(flags, func(c rune) bool { return c == ';' })
}

// withFlag adds a flag to flags unless it is there.
func withFlag(flags, flag string) string {
	all := splitFlags(flags)
	if flag == "" || slices.Contains(all, flag) {
		return flags
	}
	return strings.Join(append(all, flag), ";")
}
