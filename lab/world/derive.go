package world

import (
	"hash/fnv"

	"github.com/antipode-bench/antipode"
)

// Derive says how the way between two regions follows from their distance.
// The same file gives the same world everywhere and always.
type Derive struct {
	// The one-way delay is the time of light in fibre along the great circle
	// times an inflation between the two bounds, drawn by the pair's names:
	// cables take detours. The delay is the same both ways.
	InflationMin float64 `yaml:"inflation_min"`
	InflationMax float64 `yaml:"inflation_max"`
	DelayMinMs   float64 `yaml:"delay_min_ms"`

	JitterRatio float64 `yaml:"jitter_ratio"` // of the delay
	JitterMaxMs float64 `yaml:"jitter_max_ms"`

	// One flow gets FlowWindowBytes per round trip, within bounds: throughput
	// falls with distance, as on the real internet.
	FlowWindowBytes float64 `yaml:"flow_window_bytes"`
	FlowMinBps      float64 `yaml:"flow_min_bps"`
	FlowMaxBps      float64 `yaml:"flow_max_bps"`
}

// Rates a default machine has, in bit/s. Small, so that many pairs can be
// measured at once on a small computer.
const (
	machineMinBps = 60e6
	machineMaxBps = 180e6
)

// Default is a world made from distance alone. Every flow's window fits the
// stock Linux TCP buffers many times over: half a megabyte per round trip, and
// as much again in a full queue.
func Default(regions []antipode.Region) *World {
	w := &World{
		Controller: Controller{DelayMs: 0.5},
		Derive: Derive{
			InflationMin: 1.3, InflationMax: 1.9, DelayMinMs: 0.3,
			JitterRatio: 0.01, JitterMaxMs: 0.3,
			FlowWindowBytes: 500_000, FlowMinBps: 12e6, FlowMaxBps: 160e6,
		},
	}
	for _, r := range regions {
		w.Regions = append(w.Regions, Region{
			ID: r.ID(), Latitude: r.Latitude, Longitude: r.Longitude,
			EgressBps:  machineBps(r.ID(), "egress"),
			IngressBps: machineBps(r.ID(), "ingress"),
			IPv6:       true,
		})
	}
	return w
}

// machineBps draws a whole number of Mbit/s.
func machineBps(id, direction string) float64 {
	mbps := int(between(machineMinBps, machineMaxBps, draw(id, direction)) / 1e6)
	return float64(mbps) * 1e6
}

func (d Derive) path(a, b Region) Path {
	rttMs := antipode.FibreRTTMs(antipode.DistanceKm(place(a), place(b)))
	first, second := min(a.ID, b.ID), max(a.ID, b.ID)
	inflation := between(d.InflationMin, d.InflationMax, draw(first, second))
	p := Path{DelayMs: max(rttMs*inflation/2, d.DelayMinMs)}
	p.JitterMs = min(p.DelayMs*d.JitterRatio, d.JitterMaxMs)
	if d.FlowWindowBytes > 0 {
		p.FlowBps = d.FlowWindowBytes * 8 / (2 * p.DelayMs / 1000)
	}
	if d.FlowMaxBps > 0 && (p.FlowBps == 0 || p.FlowBps > d.FlowMaxBps) {
		p.FlowBps = d.FlowMaxBps
	}
	p.FlowBps = max(p.FlowBps, d.FlowMinBps)
	return p
}

func place(r Region) antipode.Region {
	return antipode.Region{Latitude: r.Latitude, Longitude: r.Longitude}
}

func between(low, high, share float64) float64 { return low + (high-low)*share }

// draw is a number in [0, 1) that follows from the names alone.
func draw(names ...string) float64 {
	h := fnv.New64a()
	for _, name := range names {
		h.Write([]byte(name))
		h.Write([]byte{0}) // "ab","c" is not "a","bc"
	}
	return float64(mix(h.Sum64())>>11) / (1 << 53)
}

// mix spreads the last bytes of the input over all bits, which FNV alone does
// not: it is the finaliser of MurmurHash3 (Austin Appleby, public domain).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
