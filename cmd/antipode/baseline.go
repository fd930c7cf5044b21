package main

import (
	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/allowance"
	"github.com/antipode-bench/antipode/orchestrator"
)

// fastest says what a machine sends at most to another region: on the lab what its
// world says, else what the clouds publish.
func (v *venue) fastest(path string) orchestrator.Baseline {
	return func(region, machineType string) float64 {
		if v.world != nil {
			return v.world.Machine(region, machineType).EgressBps
		}
		cloud, _, _ := antipode.SplitID(region)
		c, _ := allowance.CapOf(cloud, machineType)
		if path == orchestrator.PathPrivate {
			return max(c.MachineBps, c.PrivateBps)
		}
		return c.MachineBps
	}
}

// baseline is what a machine gets in the long run: on the lab what its world
// says, whatever the type is called; else what the clouds publish.
func (v *venue) baseline(region, machineType string) float64 {
	if v.world != nil {
		return v.world.Machine(region, machineType).BaselineBps
	}
	cloud, _, _ := antipode.SplitID(region)
	a, _ := allowance.Of(cloud, machineType)
	return a.BaselineBps
}
