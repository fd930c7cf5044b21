package main

import (
	"strings"
	"testing"
)

// TestPlanBursts: 34 regions of AWS are in 33 tests each way; Google Cloud's have
// no baseline.
func TestPlanBursts(t *testing.T) {
	const warns = "may use up the credits of their burst"
	for name, tt := range map[string]struct {
		args    []string
		longest float64 // seconds
		warned  bool
	}{
		"short":       {[]string{"--clouds", "aws", "--stop", "duration", "--duration", "9s"}, 33 * 9, false},
		"long":        {[]string{"--clouds", "aws", "--stop", "duration", "--duration", "10s"}, 33 * 10, true},
		"repeated":    {[]string{"--clouds", "aws", "--stop", "duration", "--duration", "5s", "--repeat", "2"}, 33 * 10, true},
		"in batches":  {[]string{"--clouds", "aws", "--stop", "duration", "--duration", "10s", "--batch-size", "10"}, 9 * 10, false},
		"no baseline": {[]string{"--clouds", "gcp", "--stop", "duration", "--duration", "1m"}, 0, false},
	} {
		f := forecastOf(t, tt.args...)
		longest := 0.0
		if len(f.Bursts) > 0 {
			longest = f.Bursts[0].Seconds
		}
		text, err := planOf(t, tt.args...)
		if err != nil || longest != tt.longest || strings.Contains(text, warns) != tt.warned {
			t.Errorf("%s: %v, %v s, want %v; warned %v:\n%s", name, err, longest, tt.longest, !tt.warned, text)
		}
	}
}
