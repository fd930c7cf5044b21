package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/prices"
)

// Rates are what the clouds charge. Without a table everything is free.
type Rates struct {
	Table *prices.Table
	Tier  string // of Google Cloud's addresses
}

// HourUSD is the price of an hour of a machine with its disk and its address.
func (r Rates) HourUSD(region antipode.Region, machineType string) float64 {
	b := NewBill(r)
	b.Machine(region, machineType, 1)
	return b.USD()
}

// SentUSD is the price of bytes that a pair sends.
func (r Rates) SentUSD(p Pair, bytes float64) float64 {
	b := NewBill(r)
	b.Data(p, bytes)
	return b.USD()
}

// Use is what a plan uses of the clouds.
type Use struct {
	MachineTypes map[string]string          // by cloud
	Life         func([]Pair) time.Duration // of the machines of a batch, from launch to end
	Bytes        func(Pair) float64         // that a pair sends
}

// Parts are a cost by what it is for, in USD.
type Parts struct {
	Machines  float64 `json:"machines"`
	Disks     float64 `json:"disks"`
	Addresses float64 `json:"addresses"` // public IPv4
	Egress    float64 `json:"egress"`    // data sent
}

// USD is all of it together.
func (p Parts) USD() float64 { return p.Machines + p.Disks + p.Addresses + p.Egress }

// Cost is what something costs, in USD. What has no known price is counted at
// its upper bound.
type Cost struct {
	Parts

	Unknown    []string // what has no known price, the dearest first
	Unverified bool     // a price of some part has no source that could be shown
}

// Price is the cost of measuring batches one after the other.
func Price(rates Rates, batches [][]Pair, use Use) Cost {
	b := NewBill(rates)
	for _, batch := range batches {
		hours := use.Life(batch).Hours()
		for _, r := range RegionsOf(batch) {
			b.Machine(r, use.MachineTypes[r.Cloud], hours)
		}
		for _, p := range batch {
			b.Data(p, use.Bytes(p))
		}
	}
	return b.Cost()
}

// Bill is a cost in the making.
type Bill struct {
	rates   Rates
	sum     Cost
	unknown map[string]float64 // USD
}

// NewBill begins one with nothing on it.
func NewBill(rates Rates) *Bill { return &Bill{rates: rates, unknown: map[string]float64{}} }

// Machine adds hours of a machine, its disk and its address.
func (b *Bill) Machine(r antipode.Region, machineType string, hours float64) {
	if b.rates.Table == nil {
		return
	}
	b.add(&b.sum.Machines, b.rates.Table.Machine(r, machineType), hours)
	b.add(&b.sum.Disks, b.rates.Table.Disk(r), hours)
	b.add(&b.sum.Addresses, b.rates.Table.Address(r), hours)
}

// Data adds bytes that a pair sends.
func (b *Bill) Data(p Pair, bytes float64) {
	if b.rates.Table != nil {
		b.add(&b.sum.Egress, b.rates.Table.Egress(p.From, p.To, b.rates.Tier), bytes)
	}
}

// USD is what the bill comes to so far.
func (b *Bill) USD() float64 { return b.sum.USD() }

// Cost is the bill so far.
func (b *Bill) Cost() Cost {
	c := b.sum
	c.Unknown = slices.SortedFunc(maps.Keys(b.unknown), func(one, other string) int {
		return cmp.Or(cmp.Compare(b.unknown[other], b.unknown[one]), cmp.Compare(one, other))
	})
	return c
}

func (b *Bill) add(sum *float64, p prices.Price, amount float64) {
	*sum += p.Of(amount)
	b.sum.Unverified = b.sum.Unverified || p.Source.Unverified && amount > 0
	if p.Unknown != "" && amount > 0 {
		b.unknown[p.Unknown] += p.Of(amount)
	}
}
