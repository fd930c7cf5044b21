package gce

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

type quotaJSON struct {
	Metric string  `json:"metric"`
	Limit  float64 `json:"limit"`
	Usage  float64 `json:"usage"`
}

// What the project may use unless the lab's file says otherwise.
const (
	regionCPUs      = 256
	regionAddresses = 69
	projectCPUs     = 720
	projectNetworks = 15 // counted, never refused
	projectRules    = 200
)

// usage counts what a region's instances use, or all of them, by metric.
func (d *Door) usage(region string) map[string]int {
	used := map[string]int{}
	for _, i := range d.instances {
		if region != "" && i.region != region {
			continue
		}
		used[fault.AllCPUs] += i.machineType.cpus
		used[i.machineType.quota()] += i.machineType.cpus
		if i.public {
			used[fault.InUseAddresses]++
		}
	}
	return used
}

// regionLimits are a region's quotas by metric.
func (d *Door) regionLimits(region string) map[string]int {
	limits := map[string]int{fault.RegionCPUs: regionCPUs, fault.InUseAddresses: regionAddresses}
	for _, t := range machineTypes {
		if metric := t.quota(); metric != "" {
			limits[metric] = regionCPUs
		}
	}
	for metric, usual := range limits {
		limits[metric] = d.faults.Limit(fault.Place{Cloud: "gcp", Region: region}, metric, usual)
	}
	return limits
}

func (d *Door) cpuLimit() int {
	return d.faults.Limit(fault.Place{Cloud: "gcp"}, fault.AllCPUs, projectCPUs)
}

func (d *Door) regionQuotas(region string) []quotaJSON {
	used, limits := d.usage(region), d.regionLimits(region)
	var list []quotaJSON
	for _, metric := range slices.Sorted(maps.Keys(limits)) {
		list = append(list, quotaJSON{metric, float64(limits[metric]), float64(used[metric])})
	}
	return list
}

func (d *Door) projectQuotas() []quotaJSON {
	return []quotaJSON{
		{fault.AllCPUs, float64(d.cpuLimit()), float64(d.usage("")[fault.AllCPUs])},
		{"NETWORKS", projectNetworks, float64(len(d.networks))},
		{"FIREWALLS", projectRules, float64(len(d.firewalls))},
	}
}

// exceeded is the error of an instance, one of d.instances, that is one too
// many; nil while there is room.
func (d *Door) exceeded(i *instance) *flop {
	if limit := d.cpuLimit(); d.usage("")[fault.AllCPUs] > limit {
		return overLimit(fault.AllCPUs, limit, "globally")
	}
	used, limits := d.usage(i.region), d.regionLimits(i.region)
	for _, metric := range slices.Sorted(maps.Keys(limits)) {
		if used[metric] > limits[metric] {
			return overLimit(metric, limits[metric], "in region "+i.region)
		}
	}
	return nil
}

func overLimit(metric string, limit int, where string) *flop {
	return &flop{"QUOTA_EXCEEDED", fmt.Sprintf("Quota '%s' exceeded.  Limit: %d.0 %s.", metric, limit, where), http.StatusForbidden, "FORBIDDEN"}
}
