package providers

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// What marks everything a run makes. Both words are valid as an EC2 tag and as
// a GCP label; the form of the expiry is the cloud's.
const (
	TagRun     = "antipode-run"
	TagExpires = "antipode-expires"
)

// Google Cloud's network tiers: by its own network as far as possible, or by
// the internet from the region on.
const (
	PremiumTier  = "premium"
	StandardTier = "standard"
)

// MaxRunID is the longest run id, in characters: a GCP name of 63 has to hold
// prefix, run, region and a number.
const MaxRunID = 24

var runID = regexp.MustCompile(fmt.Sprintf(`^[a-z0-9]([a-z0-9-]{0,%d}[a-z0-9])?$`, MaxRunID-2))

// Name is what a run's things are called, or begin with.
func Name(runID string) string { return "antipode-" + runID }

// CheckRunID says whether id can be part of every name a cloud asks for.
func CheckRunID(id string) error {
	if !runID.MatchString(id) {
		return fmt.Errorf("run id %q: want 1 to %d of a-z, 0-9 and inner hyphens", id, MaxRunID)
	}
	return nil
}

// Types are the machine types to try, best first.
func (s Spec) Types() []string { return append([]string{s.MachineType}, s.OtherTypes...) }

// Pick leaves of a region's zones those to use, in the order to try them. That of
// a machine to be replaced comes last: something may be wrong there.
func (s Spec) Pick(zones []string) []string {
	if len(s.Zones) > 0 {
		zones = slices.DeleteFunc(slices.Clone(s.Zones), func(zone string) bool { return !slices.Contains(zones, zone) })
	}
	if s.Instead == nil || !slices.Contains(zones, s.Instead.Zone) {
		return zones
	}
	others := slices.DeleteFunc(slices.Clone(zones), func(zone string) bool { return zone == s.Instead.Zone })
	return append(others, s.Instead.Zone)
}

// Check finds what no cloud could work with.
func (s Spec) Check() error {
	switch {
	case s.Region == "":
		return errors.New("spec without a region")
	case s.MachineType == "":
		return errors.New("spec without a machine type")
	case s.AuthorizedKey == "":
		return errors.New("spec without an authorized key")
	case !s.SSHFrom.IsValid():
		return errors.New("spec without the address SSH comes from")
	case s.Run.Expires.IsZero():
		return errors.New("run without an expiry")
	}
	return CheckRunID(s.Run.ID)
}
