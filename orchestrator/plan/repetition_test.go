package plan

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestEnough(t *testing.T) {
	steady := []float64{100, 101, 102, 103, 104, 105}
	for name, tt := range map[string]struct {
		r        Repetition
		rows     int
		goodputs []float64
		want     bool
	}{
		"once":               {Repetition{}, 1, steady[:1], true},
		"never":              {Repetition{}, 0, nil, false},
		"two of three":       {Repetition{Times: 3}, 2, steady[:2], false},
		"three of three":     {Repetition{Times: 3}, 3, steady[:1], true},
		"five are too few":   {Repetition{Times: 20, Stable: .5}, 5, steady[:5], false},
		"six within 5 %":     {Repetition{Times: 20, Stable: .05}, 6, steady, true},
		"not within 1 %":     {Repetition{Times: 20, Stable: .01}, 6, steady, false},
		"but often enough":   {Repetition{Times: 6, Stable: .01}, 6, steady, true},
		"failures don't say": {Repetition{Times: 20, Stable: .05}, 8, steady[:4], false},
	} {
		if got := tt.r.Enough(tt.rows, tt.goodputs); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestHalfWidth: the interval holds the true median as often as it says, and a
// spread of nothing is no width.
func TestHalfWidth(t *testing.T) {
	if got := HalfWidth([]float64{7, 7, 7, 7, 7, 7}); got != 0 {
		t.Errorf("%v, want 0", got)
	}
	for _, values := range [][]float64{nil, {1}, {1, 2, 3, 4, 5}, make([]float64, 6)} {
		if got := HalfWidth(values); !math.IsInf(got, 1) {
			t.Errorf("of %v: %v, want infinity", values, got)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const runs = 2000
	within := 0
	for range runs {
		values := make([]float64, 9)
		for i := range values {
			values[i] = 100 * math.Exp(rng.NormFloat64()/10) // the median is 100
		}
		middle := values[0]
		for _, v := range values { // whichever has as many below as above
			below := 0
			for _, other := range values {
				if other < v {
					below++
				}
			}
			if below == 4 {
				middle = v
			}
		}
		if math.Abs(middle-100) <= middle*HalfWidth(values) {
			within++
		}
	}
	if share := float64(within) / runs; share < .95 {
		t.Errorf("the true median is within %v of the time, want .95", share)
	}
}
