package orchestrator

import "testing"

func TestBaselineOfAPair(t *testing.T) {
	known := Baseline(func(_, machineType string) float64 {
		return map[string]float64{"slow": 30e6, "slower": 20e6}[machineType]
	})
	for _, c := range []struct {
		b        Baseline
		from, to string
		want     float64
	}{
		{nil, "slow", "slow", 0},
		{known, "other", "other", 0},
		{known, "slow", "other", 30e6},
		{known, "other", "slow", 30e6},
		{known, "slow", "slower", 20e6},
	} {
		if got := c.b.of("aws:a", "gcp:b", c.from, c.to); got != c.want {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
