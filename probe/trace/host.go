package trace

import (
	"maps"
	"math"
	"regexp"
)

// Host is what one of the two machines did in the course of a test. Shares are
// of the test's time, 0 to 1. What could not be found out is zero.
type Host struct {
	CPUs         int     `json:"cpus,omitempty"`
	CPURatio     float64 `json:"cpu_ratio"`     // all CPUs busy, whoever with; steal is not in it
	StealRatio   float64 `json:"steal_ratio"`   // all CPUs taken away by the hypervisor
	SoftIRQRatio float64 `json:"softirq_ratio"` // interrupts, of the CPU that had most of them
	// CPUs' worth of time of the probe's own threads: running, and ready to run
	// without getting a CPU. Both may exceed 1.
	OwnCPUs     float64 `json:"own_cpus"`
	WaitingCPUs float64 `json:"waiting_cpus"`

	SoftnetDrops int64  `json:"softnet_drops"`        // packets that the kernel had no room for, machine-wide
	Interface    string `json:"interface,omitempty"`  // that the test's connection uses
	NICDriver    string `json:"nic_driver,omitempty"` // of the interface
	// How often the cloud held back or dropped a packet of the machine's because
	// an allowance of the instance was used up, by the driver's name of the
	// counter; those above zero.
	NICExceeded map[string]int64 `json:"nic_allowance_exceeded,omitempty"`
	// How many more connections the cloud would track, at the end.
	ConntrackAvailable *int64 `json:"conntrack_allowance_available,omitempty"`
}

const (
	maxCounters = 64      // of a peer's card
	maxCPUs     = 1 << 16 // of a peer's
)

var (
	hostNameForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)
	counterNameForm = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)
)

// Sane is the host without what no machine can have said: a peer may lie.
func (h Host) Sane() Host {
	h.CPUs = min(max(h.CPUs, 0), maxCPUs)
	for _, share := range []*float64{&h.CPURatio, &h.StealRatio, &h.SoftIRQRatio} {
		*share = within(*share, 1)
	}
	for _, cores := range []*float64{&h.OwnCPUs, &h.WaitingCPUs} {
		*cores = within(*cores, maxCPUs)
	}
	h.SoftnetDrops = max(h.SoftnetDrops, 0)
	for _, name := range []*string{&h.Interface, &h.NICDriver} {
		if !hostNameForm.MatchString(*name) {
			*name = ""
		}
	}
	if len(h.NICExceeded) > maxCounters {
		h.NICExceeded = nil
	}
	h.NICExceeded = maps.Clone(h.NICExceeded)
	maps.DeleteFunc(h.NICExceeded, func(name string, n int64) bool { return n <= 0 || !counterNameForm.MatchString(name) })
	if h.ConntrackAvailable != nil && *h.ConntrackAvailable < 0 {
		h.ConntrackAvailable = nil
	}
	return h
}

// within is 0 for NaN.
func within(v, most float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), most)
}
