package orchestrator

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// Estimate is what a plan said of a run beforehand.
type Estimate struct {
	ExpectedS float64 `json:"expected_s"` // of tests
	BoundS    float64 `json:"bound_s"`    // no schedule of them is shorter
	Bytes     float64 `json:"bytes"`      // of payload
	USD       float64 `json:"usd"`
}

// Reached is how long a process's tests took, beside the least that any order of
// them could have taken.
type Reached struct {
	MakespanS float64 `json:"makespan_s"`
	BoundS    float64 `json:"bound_s"`
}

// Usage is what a run used of the clouds, and what that costs by the table of
// prices: no cloud's bill.
type Usage struct {
	MachineHours float64            `json:"machine_hours"` // from the launch to the teardown, each machine
	Bytes        float64            `json:"bytes"`         // sent between machines, with headers, repeats and acknowledgements
	BytesAssumed float64            `json:"bytes_assumed"` // of these, at most sent by tests that ended without a count
	USD          float64            `json:"usd"`
	Parts        plan.Parts         `json:"usd_of"`
	Unknown      []string           `json:"unknown_prices"` // counted at an upper bound
	ByPair       map[string]float64 `json:"bytes_by_pair"`  // "aws:us-east-1>gcp:us-east4"
}

// usage is all so far.
func (l *ledger) usage(now time.Time) Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	bill := plan.NewBill(l.rates)
	u := Usage{ByPair: map[string]float64{}, BytesAssumed: l.assumed, Unknown: []string{}}
	for _, s := range l.stays() {
		if s.lent {
			continue // its owner has it anyway
		}
		hours := s.hours(now)
		u.MachineHours += hours
		bill.Machine(l.regions[s.region], s.machineType, hours)
	}
	for _, way := range slices.SortedFunc(maps.Keys(l.sent), direction.compare) {
		pair, bytes := plan.Pair{From: l.regions[way.from], To: l.regions[way.to]}, l.sent[way]
		u.Bytes += bytes
		u.ByPair[pair.String()] = math.Round(bytes)
		bill.Data(pair, bytes)
	}
	u.Bytes = math.Round(u.Bytes)
	cost := bill.Cost()
	u.USD, u.Parts = cost.USD(), cost.Parts
	u.Unknown = append(u.Unknown, cost.Unknown...)
	return u
}

// stays are those of all machines, in an order of their own.
func (l *ledger) stays() []stay {
	all := slices.Clone(l.gone)
	for _, s := range l.there {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b stay) int { return strings.Compare(a.region, b.region) })
	return all
}

func (d direction) compare(other direction) int {
	return cmp.Or(strings.Compare(d.from, other.from), strings.Compare(d.to, other.to))
}
