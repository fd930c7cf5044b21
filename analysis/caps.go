package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/antipode-bench/antipode/allowance"
	"github.com/antipode-bench/antipode/results"
	"github.com/antipode-bench/antipode/units"
)

// Caps is what the machines of a row can have at most, as published. NaN is not
// known, as of everything on the lab, whose machines only bear the clouds' names.
type Caps struct {
	MachineBps float64
	FlowsBps   float64 // of all flows of the test
	Which      string  // the machine that MachineBps is of, for people
	Burstable  bool    // an end has more for a while than in the long run
}

// capsKey is what caps depend on.
type capsKey struct {
	fromCloud, from, toCloud, to, path string
	streams                            int64
	lab                                bool
}

func keyOf(r results.Row) capsKey {
	k := capsKey{fromCloud: r.FromCloud, from: r.FromMachine, toCloud: r.ToCloud, to: r.ToMachine, path: r.Path, lab: r.HasFlag(results.FlagLab)}
	if r.Streams != nil {
		k.streams = *r.Streams
	}
	return k
}

// caps looks them up. Google Cloud limits what a machine sends, EC2 both ways.
func (k capsKey) caps() Caps {
	c := Caps{MachineBps: math.NaN(), FlowsBps: math.NaN(), Burstable: burstable(k.fromCloud, k.from) || burstable(k.toCloud, k.to)}
	if k.lab {
		return c
	}
	for _, end := range []struct {
		cloud, machine string
		sends          bool
	}{{k.fromCloud, k.from, true}, {k.toCloud, k.to, false}} {
		a, known := allowance.CapOf(end.cloud, end.machine)
		if !known || !end.sends && end.cloud != "aws" {
			continue
		}
		private := k.path == "private"
		if private && a.PrivateBps > 0 {
			a.MachineBps = a.PrivateBps
		}
		if math.IsNaN(c.MachineBps) || a.MachineBps < c.MachineBps {
			c.MachineBps, c.Which = a.MachineBps, end.machine
		}
		if flows := a.FlowBps * float64(k.streams); k.streams > 0 && !private && !(flows > c.FlowsBps) {
			c.FlowsBps = flows
		}
	}
	return c
}

func burstable(cloud, machine string) bool {
	a, known := allowance.Of(cloud, machine)
	return known && a.BurstBps > a.BaselineBps
}

func (f *finder) caps(k int, o Obs) {
	c := f.d.Caps[o.Caps]
	over := func(flag string, capBps float64, what string) {
		if math.IsNaN(capBps) || math.IsNaN(o.GoodputBps) {
			return
		}
		f.found[flag].Checked++
		if o.GoodputBps > capSlack*capBps {
			f.flag(k, flag, func() string {
				return fmt.Sprintf("a goodput of %s, though %s has at most %s", units.Rate(o.GoodputBps), what, units.Rate(capBps))
			})
		}
	}
	over(AboveMachineCap, c.MachineBps, "a machine of type "+c.Which)
	over(AboveFlowCap, c.FlowsBps, "what its flows can have together")
}

// Of the series of a test that ran out of credit.
const (
	burstParts  = 4   // first and last quarter are compared
	burstLeast  = 12  // intervals
	burstFall   = 2.0 // times
	burstSteady = 0.3 // the last part's tenth to ninth tenth over its median
)

// burst marks a row whose rate fell in the test and stayed down.
func (f *finder) burst(s Series) {
	o := f.d.Obs[s.Obs]
	if o.Status != OK || !f.d.Caps[o.Caps].Burstable || len(s.GoodputBps) < burstLeast {
		return
	}
	f.found[BurstRanOut].Checked++
	before, after := fall(s.GoodputBps)
	if after > 0 && before >= burstFall*after {
		f.flag(int(s.Obs), BurstRanOut, func() string {
			return fmt.Sprintf("the rate fell from %s to %s within the test", units.Rate(before), units.Rate(after))
		})
	}
}

// fall gives the medians of the second and of the last part of a series, the
// first being slow start's; of one that does not end steadily, the same twice.
func fall(rates []float32) (before, after float64) {
	n := len(rates) / burstParts
	part := func(from, to int) []float64 {
		var part []float64
		for _, v := range rates[from:to] {
			part = append(part, float64(v))
		}
		slices.Sort(part)
		return part
	}
	first, last := part(n/2, n/2+n), part(len(rates)-n, len(rates))
	before, after = quantile(first, 0.5), quantile(last, 0.5)
	if !(after > 0) || quantile(last, 0.9)-quantile(last, 0.1) > burstSteady*after {
		return after, after
	}
	return before, after
}
