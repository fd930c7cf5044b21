package cleanup

import "time"

// Grace is how long after its expiry a run is left alone: its machines end
// themselves then, and clocks differ.
const Grace = 5 * time.Minute

// Expired picks the runs whose time was over more than Grace ago. Of the unsure
// ones nobody knows the expiry, so they are not picked.
func Expired(runs []Run, now time.Time) (expired, unsure []Run) {
	for _, r := range runs {
		switch {
		case r.Expires.IsZero():
			unsure = append(unsure, r)
		case r.Expires.Add(Grace).Before(now):
			expired = append(expired, r)
		}
	}
	return expired, unsure
}
