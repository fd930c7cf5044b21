package gcp

import (
	"net/netip"
	"testing"

	antipode "github.com/antipode-bench/antipode"
)

// Subnets of one network must not overlap, whichever regions a run chooses.
func TestSubnetRangesDiffer(t *testing.T) {
	regions := map[netip.Prefix]string{}
	for _, r := range antipode.Regions() {
		if r.Cloud != Cloud {
			continue
		}
		p := subnetRange(r.Name)
		if p != p.Masked() || !p.Addr().IsPrivate() {
			t.Errorf("%s: %v is not a private range", r.Name, p)
		}
		if other, taken := regions[p]; taken {
			t.Errorf("%s and %s have the same range %v", r.Name, other, p)
		}
		regions[p] = r.Name
	}
	if len(regions) < 40 {
		t.Errorf("%d ranges, want one for each region of %s", len(regions), Cloud)
	}
}

func TestRegionOfScope(t *testing.T) {
	for scope, want := range map[string]string{
		"zones/us-east1-b":     "us-east1",
		"regions/europe-west1": "europe-west1",
		"global":               "global",
		"https://compute.googleapis.com/compute/v1/projects/p/zones/us-west1-a":   "us-west1",
		"https://compute.googleapis.com/compute/v1/projects/p/regions/asia-east1": "asia-east1",
	} {
		if got := regionOfScope(scope); got != want {
			t.Errorf("regionOfScope(%q) = %q, want %q", scope, got, want)
		}
	}
}
