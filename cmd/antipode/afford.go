package main

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/units"
)

// afford is the error of a plan above the budget. It says what would fit.
func (p planned) afford(f forecast) error {
	budget := p.flags.budgetUSD
	if budget == 0 || f.USD <= budget {
		return nil
	}
	would := "nothing smaller would fit either"
	if ways := append(p.fewerRegions(budget), p.fewerBytes(f, budget)...); len(ways) > 0 {
		would = "what would fit: " + strings.Join(ways, ", or ")
	}
	return refusal("--budget-usd %s: the plan is estimated at %s USD, so nothing is created; %s", usd(budget), usd(f.USD), would)
}

// usd writes small amounts too.
func usd(amount float64) string {
	if amount >= 1 {
		return strconv.FormatFloat(amount, 'f', 2, 64)
	}
	return strconv.FormatFloat(amount, 'g', 3, 64)
}

// fewerRegions finds the most regions that the budget has room for.
func (p planned) fewerRegions(budget float64) []string {
	if len(p.flags.wishes.Pairs) > 0 {
		return nil // were named one by one
	}
	costs := func(n int) float64 {
		fewer, err := p.with(n)
		if err != nil {
			return math.Inf(1)
		}
		return fewer.forecast().USD
	}
	most := sort.Search(len(p.regions)-2, func(i int) bool { return costs(i+2) > budget }) + 1
	if most < 2 {
		return nil
	}
	return []string{fmt.Sprintf("--max-regions %d (%s USD)", most, usd(costs(most)))}
}

// with is the plan of at most n of the regions.
func (p planned) with(n int) (planned, error) {
	wishes := p.flags.wishes
	wishes.MaxRegions = n
	var err error
	p.regions, p.pairs, err = plan.Select(p.all, wishes)
	return p, err
}

// fewerBytes finds how little each test would have to send.
func (p planned) fewerBytes(f forecast, budget float64) []string {
	const least = 100e3 // with fewer bytes nothing is measured
	tcp := p.flags.expectedBytes() - p.flags.udp.bytes()
	left := budget - (f.USD - f.Parts.Egress)
	if f.Parts.Egress == 0 || p.flags.sockets.bidirectional || p.flags.flowCheck {
		return nil
	}
	bytes := left/f.Parts.Egress*p.flags.expectedBytes() - p.flags.udp.bytes()
	if bytes < least || bytes >= tcp {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(bytes))-1)
	return []string{"--bytes " + strings.ReplaceAll(units.Bytes(math.Floor(bytes/step)*step), " ", "")}
}
