package trace

import "testing"

func TestBursting(t *testing.T) {
	for name, c := range map[string]struct {
		goodputBps, baselineBps float64
		want                    bool
	}{
		"no baseline":   {1e9, 0, false},
		"above it":      {40e6, 32e6, true},
		"held to it":    {32e6 * 1448 / 1500, 32e6, false},
		"slower anyway": {5e6, 32e6, false},
	} {
		if got := Bursting(c.goodputBps, c.baselineBps); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
