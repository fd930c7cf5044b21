package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// PreflightLimit is how long a cloud is asked at most.
const PreflightLimit = 30 * time.Second

// Preflighter is a Provider that can say beforehand what its cloud would refuse
// a run. Machines that are already there need no such thing. See Ask.
type Preflighter interface {
	// Preflight asks about all regions at once and makes nothing. What it could
	// not find out before ctx ended, or for want of a right that the run does
	// not need, is a warning.
	Preflight(ctx context.Context, w Wanted) Preflight
}

// Wanted is what a run is going to ask of one cloud: a machine in each region.
type Wanted struct {
	Regions      []string
	MachineTypes []string            // the first that a region offers is what the run takes
	Zones        map[string][]string // by region, the only ones to use; a region that is missing: all
	Networks     map[string]string   // by region, see Spec.Network
	IPv6         bool                // machines with an IPv6 address of the internet
	Spot         bool                // machines that may be taken away
}

// Pick leaves of a region's zones those that are wanted.
func (w Wanted) Pick(region string, zones []string) []string {
	return Spec{Zones: w.Zones[region]}.Pick(zones)
}

// Preflight is what a cloud has to say.
type Preflight struct {
	Cloud      string
	Account    string            // who pays, in the cloud's words; empty when unknown
	Findings   []Finding         // of the account
	Allowances []Allowance       // of the account over all regions
	Regions    []RegionPreflight // one for each that is wanted, in their order
}

// RegionPreflight is what is known of one region. What is not known is empty.
type RegionPreflight struct {
	Region      string
	MachineType string      // that would be taken
	Zones       []string    // that offer it, sorted
	Allowances  []Allowance // of the region
	Findings    []Finding
}

// Verdict is what a finding means for the run.
type Verdict string

const (
	VerdictGo     Verdict = "go"     // nothing is known to be in the way
	VerdictWarn   Verdict = "warn"   // worth knowing, or not to be found out
	VerdictSkip   Verdict = "skip"   // the region can't take part
	VerdictRefuse Verdict = "refuse" // nothing can be made in the account
)

// verdicts, the gravest last.
var verdicts = []Verdict{VerdictGo, VerdictWarn, VerdictSkip, VerdictRefuse}

// Finding is anything that is not as it should be.
type Finding struct {
	Verdict Verdict
	Reason  string // what is wrong and, where there is one, the way out
}

// Worst is the gravest of findings, the first of several; VerdictGo without any.
func Worst(findings []Finding) Finding {
	worst := Finding{Verdict: VerdictGo}
	for _, f := range findings {
		if slices.Index(verdicts, f.Verdict) > slices.Index(verdicts, worst.Verdict) {
			worst = f
		}
	}
	return worst
}

// Found makes a finding of an error met while asking: a no of the cloud's has
// the verdict given, anything else leaves the question open.
func Found(no Verdict, err error) Finding {
	reason := err.Error()
	if e, ok := errors.AsType[*Error](err); ok {
		reason = fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	switch KindOf(err) {
	case Auth, Skip, Quota, Capacity, NotFound:
		return Finding{no, reason}
	}
	return Finding{VerdictWarn, "not checked: " + reason}
}

// Allowance is how much of something the account may have at a time.
type Allowance struct {
	Name        string // the cloud's own
	Limit, Used float64
	Machine     float64 // what a machine of the run takes, above zero
}

// Room is how many more machines fit.
func (a Allowance) Room() int { return max(0, int((a.Limit-a.Used)/a.Machine)) }

func (a Allowance) String() string {
	return fmt.Sprintf("%s: %g of %g used", a.Name, a.Used, a.Limit)
}

// Tightest is the allowance with the least room; ok is false without any.
func Tightest(allowances []Allowance) (a Allowance, ok bool) {
	if len(allowances) == 0 {
		return a, false
	}
	return slices.MinFunc(allowances, func(a, b Allowance) int { return cmp.Compare(a.Room(), b.Room()) }), true
}

// Ask makes the preflight of any provider, within PreflightLimit. One that has
// none lets everything go.
func Ask(ctx context.Context, p Provider, w Wanted) Preflight {
	ctx, cancel := context.WithTimeout(ctx, PreflightLimit)
	defer cancel()
	if asked, ok := p.(Preflighter); ok {
		return asked.Preflight(ctx, w)
	}
	all := Preflight{Cloud: p.Cloud()}
	for _, name := range w.Regions {
		all.Regions = append(all.Regions, RegionPreflight{Region: name})
	}
	return all
}
