package world

import "github.com/antipode-bench/antipode"

// Limits a world keeps to: beyond them a value is a mistake of units.
const (
	maxDelayMs = 10_000
	maxBps     = 1e12
	maxBytes   = 1 << 40
)

// check records every value out of range, every repetition and every unknown
// region, with its line.
func (p *parser) check(w *World) {
	if len(w.Regions) == 0 && len(p.Errors()) == 0 {
		p.Errorf(0, "a world needs at least one region")
	}
	p.within(&w.Controller, "delay_ms", w.Controller.DelayMs, 0, maxDelayMs)
	p.checkDerive(&w.Derive)
	known := make(map[string]bool)
	for i := range w.Regions {
		p.checkRegion(&w.Regions[i], known)
	}
	types := make(map[[2]string]bool)
	for i := range w.MachineTypes {
		p.checkType(&w.MachineTypes[i], known, types)
	}
	pairs := make(map[[2]string]bool)
	for i := range w.Pairs {
		p.checkPair(&w.Pairs[i], known, pairs)
	}
}

// within records v unless it is a number from low to high; of is what it
// belongs to.
func (p *parser) within(of any, key string, v, low, high float64) {
	if !(v >= low && v <= high) { // false for NaN too
		p.Errorf(p.lines[of], "%s %v is outside %v to %v", key, v, low, high)
	}
}

func (p *parser) want(ok bool, of any, format string, args ...any) {
	if !ok {
		p.Errorf(p.lines[of], format, args...)
	}
}

func (p *parser) checkDerive(d *Derive) {
	p.within(d, "inflation_min", d.InflationMin, 0, 100)
	p.within(d, "inflation_max", d.InflationMax, d.InflationMin, 100)
	p.within(d, "delay_min_ms", d.DelayMinMs, 0, maxDelayMs)
	p.within(d, "jitter_ratio", d.JitterRatio, 0, 1)
	p.within(d, "jitter_max_ms", d.JitterMaxMs, 0, maxDelayMs)
	p.within(d, "flow_window_bytes", d.FlowWindowBytes, 0, maxBytes)
	p.within(d, "flow_min_bps", d.FlowMinBps, 0, maxBps)
	p.within(d, "flow_max_bps", d.FlowMaxBps, 0, maxBps)
	if d.FlowMaxBps > 0 {
		p.want(d.FlowMinBps <= d.FlowMaxBps, d, "flow_min_bps is above flow_max_bps")
	}
}

func (p *parser) checkRegion(r *Region, known map[string]bool) {
	_, _, ok := antipode.SplitID(r.ID)
	p.want(ok, r, "id %q is not of the form \"cloud:region\"", r.ID)
	p.want(!known[r.ID], r, "region %q is there twice", r.ID)
	known[r.ID] = true
	p.within(r, "latitude", r.Latitude, -90, 90)
	p.within(r, "longitude", r.Longitude, -180, 180)
	p.within(r, "egress_bps", r.EgressBps, 0, maxBps)
	p.within(r, "ingress_bps", r.IngressBps, 0, maxBps)
	p.checkAllowance(r, r.Allowance, r.EgressBps, r.IngressBps)
}

func (p *parser) checkType(t *MachineType, known map[string]bool, seen map[[2]string]bool) {
	p.want(t.Type != "", t, "a machine type needs a type")
	p.want(t.Region == "" || known[t.Region], t, "unknown region %q", t.Region)
	key := [2]string{t.Type, t.Region}
	p.want(!seen[key], t, "machine type %q in region %q is there twice", t.Type, t.Region)
	seen[key] = true
	p.within(t, "egress_bps", t.EgressBps, 0, maxBps)
	p.within(t, "ingress_bps", t.IngressBps, 0, maxBps)
	p.checkAllowance(t, t.Allowance, t.EgressBps, t.IngressBps)
}

func (p *parser) checkPair(pair *Pair, known map[string]bool, seen map[[2]string]bool) {
	for _, id := range []string{pair.From, pair.To} {
		p.want(known[id], pair, "unknown region %q", id)
	}
	key := [2]string{pair.From, pair.To}
	p.want(!seen[key], pair, "pair %q to %q is there twice", pair.From, pair.To)
	seen[key] = true
	for _, v := range []struct {
		key  string
		v    *float64
		high float64
	}{
		{"delay_ms", pair.DelayMs, maxDelayMs}, {"jitter_ms", pair.JitterMs, maxDelayMs},
		{"loss_ratio", pair.LossRatio, 1}, {"flow_bps", pair.FlowBps, maxBps},
	} {
		if v.v != nil {
			p.within(pair, v.key, *v.v, 0, v.high)
		}
	}
	p.checkQuirks(pair)
}
