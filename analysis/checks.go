package analysis

import (
	"fmt"
	"math"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
	"github.com/antipode-bench/antipode/units"
)

// Flags of the checks beside those of light in package results.
const (
	AsymmetricRTT     = "asymmetric-rtt"
	AsymmetricGoodput = "asymmetric-goodput"
	AboveMachineCap   = "above-machine-cap"
	AboveFlowCap      = "above-flow-cap"
	BurstRanOut       = "burst-ran-out"
)

// Where the checks draw their lines.
const (
	asymmetryRatio   = 0.10 // of the smaller RTT, and
	asymmetryMs      = 2.0  // at least
	asymmetryGoodput = 2.0  // times the slower direction's
	capSlack         = 1.05 // clouds shape within some per cent, and count headers
)

// checks are all there are, in the order of a report.
func checks() []Check {
	return []Check{
		{Flag: results.BelowVacuumFloor, Title: "Faster than light in vacuum",
			Text: "Impossible: the RTT is less than light needs in vacuum along the great circle. The figure or a region's coordinates are wrong."},
		{Flag: results.BelowFibreFloor, Title: "Faster than light in fibre",
			Text: "Suspicious: the RTT is less than light needs in a fibre laid along the great circle. Rows faster than in vacuum are counted here too."},
		{Flag: AsymmetricRTT, Title: "RTT differs between the directions",
			Text: fmt.Sprintf("A round trip goes both ways, so both directions of a pair should have the same RTT. Here the medians differ by more than %.0f %% and %.0f ms: the route changed between the tests, or one of them met a queue. The slower direction's rows have the flag.", asymmetryRatio*100, asymmetryMs)},
		{Flag: AsymmetricGoodput, Title: "Goodput differs between the directions",
			Text: fmt.Sprintf("The median goodput of the other direction is at least %.0f times as high. The slower direction's rows have the flag.", asymmetryGoodput)},
		{Flag: AboveMachineCap, Title: "More than the machine's bandwidth",
			Text: fmt.Sprintf("The goodput is more than %.0f %% above what the cloud publishes for a machine type at an end: the figure or the type is wrong, or the publication is out of date.", (capSlack-1)*100)},
		{Flag: AboveFlowCap, Title: "More than a flow's bandwidth",
			Text: fmt.Sprintf("The goodput of a test is more than %.0f %% above what the cloud lets each of its flows have.", (capSlack-1)*100)},
		{Flag: BurstRanOut, Title: "Burst credit ran out in the test",
			Text: "The rate fell to less than half in the course of the test and stayed there, and a machine at an end has more bandwidth for a while than in the long run: the goodput is a mixture of both."},
	}
}

// finder holds rows against the checks.
type finder struct {
	d       *Data
	all     []Check
	found   map[string]*Check
	flagged []Flagged
}

func (f *finder) run() ([]Check, []Flagged) {
	f.all = checks()
	for i := range f.all {
		f.found[f.all[i].Flag] = &f.all[i]
	}
	slowRTT, slowRate := f.slowerThanBack()
	for k, o := range f.d.Obs {
		p := f.d.Pairs[o.Pair]
		if o.Status != OK || p.Within() {
			continue
		}
		f.light(k, o, p)
		f.pairwise(k, o, AsymmetricRTT, slowRTT)
		f.pairwise(k, o, AsymmetricGoodput, slowRate)
		f.caps(k, o)
	}
	for _, s := range f.d.Series {
		f.burst(s)
	}
	return f.all, f.flagged
}

// flag marks a row; the text is made only if it is kept.
func (f *finder) flag(k int, flag string, text func() string) {
	c := f.found[flag]
	c.Rows++
	if c.Rows > MostBad {
		return
	}
	from, to, file := rowWords(f.d, f.d.Obs[k])
	f.flagged = append(f.flagged, Flagged{Obs: k, File: file, From: from, To: to, Flag: flag, Text: text()})
}

func (f *finder) light(k int, o Obs, p Pair) {
	if math.IsNaN(o.RTTMinMs) || math.IsNaN(p.Km) {
		return
	}
	for _, c := range []struct {
		flag, medium string
		floorMs      float64
	}{
		{results.BelowVacuumFloor, "vacuum", antipode.VacuumRTTMs(p.Km)},
		{results.BelowFibreFloor, "fibre", antipode.FibreRTTMs(p.Km)},
	} {
		f.found[c.flag].Checked++
		if o.RTTMinMs < c.floorMs {
			f.flag(k, c.flag, func() string {
				return fmt.Sprintf("an RTT of %s is less than the %s that light takes in %s over %s km",
					units.Milliseconds(o.RTTMinMs), units.Milliseconds(c.floorMs), c.medium, units.Kilometres(p.Km))
			})
		}
	}
}

// pairwise marks the rows of the pairs that there is a text for.
func (f *finder) pairwise(k int, o Obs, flag string, texts []*string) {
	text := texts[o.Pair]
	if text == nil {
		return
	}
	f.found[flag].Checked++
	if *text != "" {
		f.flag(k, flag, func() string { return *text })
	}
}

// slowerThanBack says for each pair why it is slower than its way back. Nil is
// a pair that can't be compared, "" one that is not slower.
func (f *finder) slowerThanBack() (rtts, rates []*string) {
	d := f.d
	back := map[[2]int]int{}
	for i, p := range d.Pairs {
		back[[2]int{p.To, p.From}] = i
	}
	rtts, rates = make([]*string, len(d.Pairs)), make([]*string, len(d.Pairs))
	for i, p := range d.Pairs {
		j, ok := back[[2]int{p.From, p.To}]
		if !ok || p.Within() {
			continue
		}
		here, there := d.medians[i], d.medians[j]
		if !math.IsNaN(here.RTTMs + there.RTTMs) {
			rtts[i] = new(slowerRTT(here.RTTMs, there.RTTMs))
		}
		if !math.IsNaN(here.GoodputBps + there.GoodputBps) {
			rates[i] = new(slowerRate(here.GoodputBps, there.GoodputBps))
		}
	}
	return rtts, rates
}

func slowerRTT(here, there float64) string {
	if here-there <= max(asymmetryMs, asymmetryRatio*there) {
		return ""
	}
	return fmt.Sprintf("a median RTT of %s, %s the other way", units.Milliseconds(here), units.Milliseconds(there))
}

func slowerRate(here, there float64) string {
	if there < asymmetryGoodput*here || there == 0 {
		return ""
	}
	return fmt.Sprintf("a median goodput of %s, %s the other way", units.Rate(here), units.Rate(there))
}
