//go:build linux

package host

import (
	"net/netip"
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
)

// Meter compares a machine with what it was when the Meter was made.
type Meter struct {
	device string // interface; empty if it isn't known
	before reading
}

// reading is all that counts up, at one moment.
type reading struct {
	at     time.Time
	cpus   []cpuTimes // of each CPU
	ran    time.Duration
	waited time.Duration
	drops  int64
	card   map[string]uint64
}

// Start begins to watch the machine, and the interface that has the address,
// which is the local one of the test's connections.
func Start(local netip.Addr) *Meter {
	m := &Meter{device: deviceOf(local)}
	m.before = m.read()
	return m
}

func (m *Meter) read() reading {
	r := reading{at: time.Now(), cpus: readCPUs(), drops: readDrops(), card: readCounters(m.device)}
	r.ran, r.waited = readOwn()
	return r
}

// Read says what happened since Start. It may be called more than once.
func (m *Meter) Read() trace.Host {
	return m.before.until(m.read(), trace.Host{Interface: m.device, NICDriver: readDriver(m.device)}).Sane()
}

// until fills h with what happened between two readings.
func (r reading) until(end reading, h trace.Host) trace.Host {
	span := end.at.Sub(r.at).Seconds()
	if span <= 0 {
		return h
	}
	h.CPUs = len(end.cpus)
	h.CPURatio, h.StealRatio, h.SoftIRQRatio = shares(r.cpus, end.cpus)
	h.OwnCPUs = (end.ran - r.ran).Seconds() / span
	h.WaitingCPUs = (end.waited - r.waited).Seconds() / span
	h.SoftnetDrops = end.drops - r.drops
	h.NICExceeded = exceeded(r.card, end.card)
	h.ConntrackAvailable = conntrackAvailable(end.card)
	return h
}
