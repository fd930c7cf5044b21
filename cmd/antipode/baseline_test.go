package main

import (
	"testing"

	"github.com/antipode-bench/antipode/lab/world"
)

func TestBaseline(t *testing.T) {
	lab, err := world.Parse("w.yaml", []byte(`
controller: {delay_ms: 1}
derive: {inflation_min: 1, inflation_max: 1, delay_min_ms: 1, jitter_ratio: 0, jitter_max_ms: 0, flow_window_bytes: 0, flow_min_bps: 0, flow_max_bps: 0}
regions:
- {id: "aws:a", latitude: 0, longitude: 0, egress_bps: 100e6, ingress_bps: 100e6, baseline_bps: 30e6, burst_bytes: 1e9}
- {id: "aws:b", latitude: 0, longitude: 1, egress_bps: 100e6, ingress_bps: 100e6}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		world       *world.World
		region, typ string
		want        float64
	}{
		"burstable":                {nil, "aws:a", "t3.nano", 32e6},
		"unknown type":             {nil, "aws:a", "x9.huge", 0},
		"other cloud":              {nil, "gcp:a", "t3.nano", 0},
		"lab":                      {lab, "aws:a", "t3.nano", 30e6},
		"lab's without one":        {lab, "aws:b", "t3.nano", 0},
		"lab's without that place": {lab, "gcp:c", "e2-small", 0},
	} {
		v := &venue{world: c.world}
		if got := v.baseline(c.region, c.typ); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
