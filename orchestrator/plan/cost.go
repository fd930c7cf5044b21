package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/antipode-bench/antipode/prices"
)

// Use is what a plan uses of the clouds.
type Use struct {
	MachineTypes map[string]string          // by cloud
	Life         func([]Pair) time.Duration // of the machines of a batch, from launch to end
	Bytes        func(Pair) float64         // that a pair sends
	Tier         string                     // of Google Cloud's addresses
}

// Cost is what a plan costs, in USD. What has no known price is counted at its
// upper bound.
type Cost struct {
	Machines, Disks, Addresses, Egress float64

	Unknown    []string // what has no known price, the dearest first
	Unverified bool     // a price of some part has no source that could be shown
}

// USD is all of it together.
func (c Cost) USD() float64 { return c.Machines + c.Disks + c.Addresses + c.Egress }

// Price is the cost of measuring batches one after the other.
func Price(table *prices.Table, batches [][]Pair, use Use) Cost {
	b := bill{unknown: map[string]float64{}}
	for _, batch := range batches {
		hours := use.Life(batch).Hours()
		for _, r := range RegionsOf(batch) {
			b.add(&b.Machines, table.Machine(r, use.MachineTypes[r.Cloud]), hours)
			b.add(&b.Disks, table.Disk(r), hours)
			b.add(&b.Addresses, table.Address(r), hours)
		}
		for _, p := range batch {
			b.add(&b.Egress, table.Egress(p.From, p.To, use.Tier), use.Bytes(p))
		}
	}
	b.Unknown = slices.SortedFunc(maps.Keys(b.unknown), func(one, other string) int {
		return cmp.Or(cmp.Compare(b.unknown[other], b.unknown[one]), cmp.Compare(one, other))
	})
	return b.Cost
}

// bill is a cost in the making.
type bill struct {
	Cost
	unknown map[string]float64 // USD
}

func (b *bill) add(sum *float64, p prices.Price, amount float64) {
	*sum += p.Of(amount)
	b.Unverified = b.Unverified || p.Source.Unverified && amount > 0
	if p.Unknown != "" && amount > 0 {
		b.unknown[p.Unknown] += p.Of(amount)
	}
}
