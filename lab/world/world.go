package world

import (
	"math"
	"slices"
	"sync"
)

// World is the lab's internet. It is made by Default, Parse or Load and not
// changed afterwards, so it is safe for concurrent use without a lock.
//
// All rates are IP-level bits per second: every segment counts with its IP and
// transport headers, nothing below them. A rate of 0 is no limit.
type World struct {
	Controller   Controller    `yaml:"controller"`
	Derive       Derive        `yaml:"derive"`
	Regions      []Region      `yaml:"regions"`
	MachineTypes []MachineType `yaml:"machine_types,omitempty"`
	Pairs        []Pair        `yaml:"pairs,omitempty"`

	once    sync.Once
	regions map[string]Region
	pairs   map[[2]string]Pair
}

// Controller is the place of whoever runs the sweep: near every region, so
// that a lab run spends its time on measuring.
type Controller struct {
	DelayMs float64 `yaml:"delay_ms"` // one way, to and from every region
}

// Region is one place and the rates of the machines in it.
type Region struct {
	ID         string  `yaml:"id"`        // "cloud:region"
	Latitude   float64 `yaml:"latitude"`  // WGS84 decimal degrees
	Longitude  float64 `yaml:"longitude"` // WGS84 decimal degrees
	EgressBps  float64 `yaml:"egress_bps"`
	IngressBps float64 `yaml:"ingress_bps"`
	IPv6       bool    `yaml:"ipv6,omitempty"` // machines may have addresses of it
	Allowance  `yaml:",inline"`
}

// MachineType overrides the rates of the machines of one type.
type MachineType struct {
	Type       string  `yaml:"type"`
	Region     string  `yaml:"region,omitempty"` // empty: in every region without an entry of its own
	EgressBps  float64 `yaml:"egress_bps"`
	IngressBps float64 `yaml:"ingress_bps"`
	Allowance  `yaml:",inline"`
}

// Pair overrides the way from one region to another. What it leaves out is
// derived from distance.
type Pair struct {
	From      string   `yaml:"from"`
	To        string   `yaml:"to"`
	DelayMs   *float64 `yaml:"delay_ms,omitempty"` // one way
	JitterMs  *float64 `yaml:"jitter_ms,omitempty"`
	LossRatio *float64 `yaml:"loss_ratio,omitempty"`
	FlowBps   *float64 `yaml:"flow_bps,omitempty"`
	Quirks    `yaml:",inline"`
}

// Path is the way of packets from one region to another.
type Path struct {
	DelayMs   float64 // one way, without the time spent in queues
	JitterMs  float64 // each packet's delay is within DelayMs ± JitterMs, never overtaking
	LossRatio float64 // of segments, 0 to 1, independent of each other
	FlowBps   float64 // the most one flow (one 5-tuple) gets; 0 is no limit
	Quirks
}

// Rates are the two directions of a machine; 0 is no limit.
type Rates struct {
	EgressBps, IngressBps float64
	Allowance
}

func (w *World) index() {
	w.once.Do(func() {
		w.regions = make(map[string]Region, len(w.Regions))
		for _, r := range w.Regions {
			w.regions[r.ID] = r
		}
		w.pairs = make(map[[2]string]Pair, len(w.Pairs))
		for _, p := range w.Pairs {
			w.pairs[[2]string{p.From, p.To}] = p
		}
	})
}

// Knows reports whether the world has the region; the controller's place, "",
// it always has.
func (w *World) Knows(region string) bool {
	w.index()
	_, known := w.regions[region]
	return known || region == ""
}

// Path is the way from one region to another, or within one. The controller's
// place is "". It is the zero Path if the world does not know both.
func (w *World) Path(from, to string) Path {
	if !w.Knows(from) || !w.Knows(to) {
		return Path{}
	}
	if from == "" || to == "" {
		return Path{DelayMs: w.Controller.DelayMs}
	}
	path := w.Derive.path(w.regions[from], w.regions[to])
	pair := w.pairs[[2]string{from, to}]
	for _, o := range []struct {
		to   *float64
		from *float64
	}{
		{&path.DelayMs, pair.DelayMs}, {&path.JitterMs, pair.JitterMs},
		{&path.LossRatio, pair.LossRatio}, {&path.FlowBps, pair.FlowBps},
	} {
		if o.from != nil {
			*o.to = *o.from
		}
	}
	path.Quirks = pair.Quirks
	path.JitterMs = math.Min(path.JitterMs, path.DelayMs)
	return path
}

// Machine is what a machine of the type gets in the region. The controller is
// not limited.
func (w *World) Machine(region, machineType string) Rates {
	w.index()
	r := w.regions[region]
	rates := Rates{r.EgressBps, r.IngressBps, r.Allowance}
	for _, where := range []string{"", region} {
		i := slices.IndexFunc(w.MachineTypes, func(t MachineType) bool {
			return region != "" && t.Type == machineType && t.Region == where
		})
		if i >= 0 {
			t := w.MachineTypes[i]
			rates = Rates{t.EgressBps, t.IngressBps, t.Allowance}
		}
	}
	return rates
}
