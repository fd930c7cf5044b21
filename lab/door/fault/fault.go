package fault

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Kind says how a call goes wrong.
type Kind string

// None is the kind of a call that goes well; the others are spelled as in the file.
const (
	None         Kind = ""
	Silent       Kind = "silent"        // accepted, never answered
	Throttle     Kind = "throttle"      // refused: too many calls
	Error500     Kind = "error-500"     // refused: internal error
	ResetAfter   Kind = "reset-after"   // done, but the connection is cut before the answer
	Denied       Kind = "denied"        // refused: no permission
	Capacity     Kind = "capacity"      // the zone has no such machine left
	LateCapacity Kind = "late-capacity" // as capacity, but found out only after the call was accepted
	BadOperation Kind = "bad-operation" // accepted, but the operation that was to do it ends in an internal error (gcp)
	Quota        Kind = "quota"         // the account may not have one more
)

var kinds = []Kind{Silent, Throttle, Error500, ResetAfter, Denied, Capacity, LateCapacity, BadOperation, Quota}

// Faults is everything that goes wrong. The zero value is a good day.
type Faults struct {
	Calls     []Call      `yaml:"calls,omitempty"`
	Machines  []Machine   `yaml:"machines,omitempty"`
	Cuts      []Cut       `yaml:"cuts,omitempty"`
	OptedOut  []string    `yaml:"opted_out,omitempty"`      // AWS regions that the account has not enabled
	NoDefault []string    `yaml:"no_default_vpc,omitempty"` // AWS regions whose VPC is an ordinary one: the default was deleted
	Quotas    []Allowance `yaml:"quotas,omitempty"`         // the first that matches counts
	Project   Project     `yaml:"project,omitempty"`
}

// Place narrows a fault down; an empty field matches everything.
type Place struct {
	Cloud  string `yaml:"cloud,omitempty"` // "aws" or "gcp"
	Region string `yaml:"region,omitempty"`
	Zone   string `yaml:"zone,omitempty"`
}

// Call makes API calls go wrong. The first fault that matches a call is dealt.
type Call struct {
	Place `yaml:",inline"`
	Call  string `yaml:"call,omitempty"`  // as the API spells it: "RunInstances", "instances.insert"; empty: every call
	Kind  Kind   `yaml:"kind"`            // what happens
	Count int    `yaml:"count,omitempty"` // to the first so many calls; 0: to all
}

// Machine makes machines go wrong.
type Machine struct {
	Place      `yaml:",inline"`
	NeverBoot  bool    `yaml:"never_boot,omitempty"`   // it exists, and nothing on it ever answers
	RefuseSSH  bool    `yaml:"refuse_ssh,omitempty"`   // it boots without an SSH server
	BootDelayS float64 `yaml:"boot_delay_s,omitempty"` // added to its boot time, seconds

	// SpotTakenAfterS is how long after its start a spot machine is taken away,
	// seconds. Such a fault is for spot machines alone.
	SpotTakenAfterS float64 `yaml:"spot_taken_after_s,omitempty"`

	Count int `yaml:"count,omitempty"` // the first so many machines; 0: all
}

// maxBootDelay bounds BootDelayS and SpotTakenAfterS: longer is a typing error.
const maxBootDelay = 24 * time.Hour

// Validate says what is wrong with the first fault that makes no sense.
func (f Faults) Validate() error {
	for i, c := range f.Calls {
		if err := c.validate(); err != nil {
			return fmt.Errorf("calls[%d]: %w", i, err)
		}
	}
	for i, m := range f.Machines {
		if err := m.validate(); err != nil {
			return fmt.Errorf("machines[%d]: %w", i, err)
		}
	}
	for i, c := range f.Cuts {
		if err := c.validate(); err != nil {
			return fmt.Errorf("cuts[%d]: %w", i, err)
		}
	}
	for i, q := range f.Quotas {
		if err := q.validate(); err != nil {
			return fmt.Errorf("quotas[%d]: %w", i, err)
		}
	}
	if err := f.Project.validate(); err != nil {
		return fmt.Errorf("project: %w", err)
	}
	return nil
}

func (c Call) validate() error {
	if !slices.Contains(kinds, c.Kind) {
		return fmt.Errorf("unknown kind %q, want one of %v", c.Kind, kinds)
	}
	return c.Place.validate(c.Count)
}

func (m Machine) validate() error {
	if math.IsNaN(m.BootDelayS) || m.BootDelayS < 0 || m.BootDelayS > maxBootDelay.Seconds() {
		return fmt.Errorf("boot_delay_s is %v, want 0 to %v", m.BootDelayS, maxBootDelay.Seconds())
	}
	if math.IsNaN(m.SpotTakenAfterS) || m.SpotTakenAfterS < 0 || m.SpotTakenAfterS > maxBootDelay.Seconds() {
		return fmt.Errorf("spot_taken_after_s is %v, want 0 to %v", m.SpotTakenAfterS, maxBootDelay.Seconds())
	}
	if !m.NeverBoot && !m.RefuseSSH && m.BootDelayS == 0 && m.SpotTakenAfterS == 0 {
		return fmt.Errorf("nothing is wrong with it: want never_boot, refuse_ssh, boot_delay_s or spot_taken_after_s")
	}
	return m.Place.validate(m.Count)
}

func (p Place) validate(count int) error {
	if p.Cloud != "" && p.Cloud != "aws" && p.Cloud != "gcp" {
		return fmt.Errorf("unknown cloud %q, want aws or gcp", p.Cloud)
	}
	if count < 0 {
		return fmt.Errorf("count is %d, want 0 or more", count)
	}
	return nil
}

func (p Place) matches(at Place) bool {
	return (p.Cloud == "" || p.Cloud == at.Cloud) &&
		(p.Region == "" || p.Region == at.Region) &&
		(p.Zone == "" || p.Zone == at.Zone)
}
