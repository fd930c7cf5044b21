package gcp

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/antipode-bench/antipode/providers"
)

// TestChosenNetworkIPv6: a subnet of the user's must have external IPv6 itself.
// Those of Belgium have, but for those that an auto mode network made.
func TestChosenNetworkIPv6(t *testing.T) {
	for name, tt := range map[string]struct {
		region, network, says string
	}{
		"dual":      {belgium, "lan/west", ""},
		"shared":    {belgium, sharedNetwork + "/net-b", ""},
		"auto mode": {belgium, "wide", "subnet wide has no external IPv6"},
		"only one":  {oregon, "lan", "subnets update lan --region us-west1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openWorld(t, networks, nil)
				before := len(w.Left())
				wish := wanted(DefaultMachineType)
				wish.Regions, wish.Networks, wish.IPv6 = []string{tt.region}, map[string]string{tt.region: tt.network}, true
				worst := providers.Worst(providers.Ask(t.Context(), w.provider, wish).Regions[0].Findings)
				if worst.Verdict == providers.VerdictSkip != (tt.says != "") || !strings.Contains(worst.Reason, tt.says) {
					t.Errorf("preflight: %v, want %q", worst, tt.says)
				}
				spec := testSpec(tt.region)
				spec.Network, spec.IPv6 = tt.network, true
				m, err := w.provider.Launch(t.Context(), spec)
				if m.IPv6.Is6() != (err == nil) || err == nil != (tt.says == "") || err != nil && providers.KindOf(err) != providers.Skip {
					t.Errorf("Launch = %v, %v; want %q", m.IPv6, err, tt.says)
				}
				if err := w.provider.Destroy(t.Context(), "r1", []string{tt.region}); err != nil || len(w.Left()) != before {
					t.Errorf("Destroy: %v, left %v", err, w.Left())
				}
			})
		})
	}
}
