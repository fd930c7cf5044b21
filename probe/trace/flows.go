package trace

import "fmt"

const (
	// moreThanOne is how much more than one flow alone two must carry, in
	// twoRounds in a row, for the cap to be of each flow.
	moreThanOne = 1.2
	twoRounds   = 2
	// noGrowth in capRounds in a row, at no less than capShare of what one flow
	// had alone: two carry no more.
	noGrowth  = 1.1
	capRounds = 4
	capShare  = .8
)

// FlowRule tells a cap of every flow from one of the machine or the path: it
// watches two flows fill a path that carried one alone at a known rate, until it
// knows. Like Rule, it takes a growing log and looks at it once a round.
type FlowRule struct {
	alone float64 // bytes per second
	to    int     // where the latest round ends
	more  int     // rounds in a row above moreThanOne
	flat  int     // rounds in a row without growth
	best  float64
	ratio float64 // over alone: two rounds' lesser rate, at its highest
	last  float64
}

// NewFlowRule is a rule for two flows where one alone had a rate in bytes per
// second.
func NewFlowRule(alone float64) *FlowRule { return &FlowRule{alone: alone} }

// Enough says whether the log of both flows, which has more samples than at the
// last call, says what the cap is of.
func (r *FlowRule) Enough(l Log) bool {
	latest, over := l.nextRound(r.to)
	if !over || r.alone <= 0 {
		return false
	}
	r.to = latest.to
	r.ratio = max(r.ratio, min(latest.rate, r.last)/r.alone)
	r.last = latest.rate
	r.more++
	if latest.rate < moreThanOne*r.alone {
		r.more = 0
	}
	r.flat++
	if latest.rate > noGrowth*r.best {
		r.flat = 0
	}
	r.best = max(r.best, latest.rate)
	return r.more >= twoRounds || r.capped()
}

func (r *FlowRule) capped() bool { return r.flat >= capRounds && r.best >= capShare*r.alone }

// Ratio is what the two flows brought, in any two rounds, over what one did.
func (r *FlowRule) Ratio() float64 { return r.ratio }

// Refine says what became of a verdict of LimitRateCap with a second flow.
func (r *FlowRule) Refine(l Limit) Limit {
	switch {
	case r.more >= twoRounds:
		return Limit{LimitFlowCap, fmt.Sprintf("two flows brought %.2f times the rate of one, in two rounds; one alone: %s", r.ratio, l.Evidence)}
	case r.capped():
		return Limit{l.By, fmt.Sprintf("%s; two flows brought no more than %.2f times the rate", l.Evidence, r.ratio)}
	}
	return Limit{l.By, fmt.Sprintf("%s; two flows reached %.2f times the rate, too little to tell whose cap it is", l.Evidence, r.ratio)}
}
