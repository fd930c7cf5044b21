package fault

import (
	"fmt"
	"math"
	"time"
)

// Cut takes the controller's way to machines away for a time, SSH and all,
// without a word to either side. The doors stay open.
type Cut struct {
	Place  `yaml:",inline"`
	AfterS float64 `yaml:"after_s,omitempty"` // the first packet from one machine to another, seconds
	ForS   float64 `yaml:"for_s"`             // seconds
}

// After is when the cut begins, since the first packet from one machine to another.
func (c Cut) After() time.Duration { return seconds(c.AfterS) }

// For is how long it lasts.
func (c Cut) For() time.Duration { return seconds(c.ForS) }

// maxCut bounds both times: longer is a typing error.
const maxCut = 24 * time.Hour

func (c Cut) validate() error {
	switch most := maxCut.Seconds(); {
	case c.Zone != "":
		return fmt.Errorf("zone %q: cuts are of regions or of all of them", c.Zone)
	case math.IsNaN(c.AfterS) || c.AfterS < 0 || c.AfterS > most:
		return fmt.Errorf("after_s is %v, want 0 to %v", c.AfterS, most)
	case math.IsNaN(c.ForS) || c.ForS <= 0 || c.ForS > most:
		return fmt.Errorf("for_s is %v, want above 0 and at most %v", c.ForS, most)
	}
	return c.Place.validate(0)
}
