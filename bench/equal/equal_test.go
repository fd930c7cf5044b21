package main

import (
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/analysis"
	labworld "github.com/antipode-bench/antipode/lab/world"
)

func TestTally(t *testing.T) {
	pair := func(ratio float64, verdict string) analysis.PairComparison {
		return analysis.PairComparison{From: "a:a", To: "b:b", Ratio: ratio, Verdict: verdict}
	}
	var all tally
	for _, c := range []struct {
		pairs  []analysis.PairComparison
		failed bool
		want   string
	}{
		{[]analysis.PairComparison{pair(1.01, analysis.Same), pair(0.98, analysis.Same)}, false, "medians apart by 2.0 % at most"},
		{[]analysis.PairComparison{pair(1.06, analysis.Improvement)}, false, "; goodput_bps of a:a>b:b: improvement, 1.060 times"},
		{[]analysis.PairComparison{pair(0.8, analysis.Regression)}, true, "0.800 times; FAILED"},
	} {
		got := all.add(&analysis.Comparison{Metrics: []analysis.MetricComparison{{Metric: analysis.MetricGoodput, Pairs: c.pairs}}}, c.failed)
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("said %q, want %q at its end", got, c.want)
		}
	}
	const want = "3 comparisons of equal worlds, 4 of a pair and metric: 2 reported a change (5 % or more), 1 a regression of 10% or more; medians apart by 25.0 % at most"
	if got := all.line(3); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestWorld: the world is one, and has the pairs that are counted on.
func TestWorld(t *testing.T) {
	w, err := labworld.Parse("world.yaml", world)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Pairs) != pairs || strings.Count(regions, ",") != len(w.Regions)-1 {
		t.Errorf("%d pairs of %d regions; want %d of %s", len(w.Pairs), len(w.Regions), pairs, regions)
	}
}
