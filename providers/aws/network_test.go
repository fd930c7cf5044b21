package aws

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/providers"
)

// TestNamedNetwork: where the default VPC was deleted, another can be named, or a
// subnet, whose zone it then is.
func TestNamedNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{NoDefault: []string{ireland}}, nil)
		subnets, err := w.provider.region(ireland).subnets(t.Context())
		if err != nil || len(subnets) < 2 {
			t.Fatalf("subnets: %v, %v", subnets, err)
		}
		for name, c := range map[string]struct {
			network, zone string // zone empty: skipped
		}{
			"a VPC":          {*subnets[1].VpcId, *subnets[0].AvailabilityZone},
			"a subnet":       {*subnets[1].SubnetId, *subnets[1].AvailabilityZone},
			"unknown VPC":    {"vpc-0123456789abcdef0", ""},
			"unknown subnet": {"subnet-0123456789abcdef0", ""},
		} {
			spec := testSpec(t, ireland)
			spec.Network = c.network
			m, err := w.provider.Launch(t.Context(), spec)
			if c.zone != "" && (err != nil || m.Zone != c.zone) {
				t.Errorf("%s: Launch in %s, %v; want %s", name, m.Zone, err, c.zone)
			}
			if c.zone == "" && (providers.KindOf(err) != providers.Skip || !strings.Contains(err.Error(), c.network)) {
				t.Errorf("%s: Launch: %v, want one that skips the region", name, err)
			}
			asked := w.provider.Preflight(t.Context(), providers.Wanted{Regions: []string{ireland}, MachineTypes: []string{DefaultMachineType},
				Networks: map[string]string{ireland: c.network}}).Regions[0]
			if got := providers.Worst(asked.Findings).Verdict == providers.VerdictSkip; got != (c.zone == "") {
				t.Errorf("%s: preflight: %+v", name, asked.Findings)
			}
			if err := w.provider.Destroy(t.Context(), "r1", []string{ireland}); err != nil {
				t.Errorf("%s: Destroy: %v", name, err)
			}
		}
		if left := w.Left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}
