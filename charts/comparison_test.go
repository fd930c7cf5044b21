package charts_test

import (
	"fmt"
	"testing"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/charts"
)

// comparison has n pairs of each verdict.
func comparison(n int) *analysis.Comparison {
	m := analysis.MetricComparison{Metric: analysis.MetricGoodput, Other: 1, Tested: 3 * n}
	for _, v := range []struct {
		verdict string
		ratio   float64
	}{{analysis.Regression, 0.78}, {analysis.Improvement, 1.31}, {analysis.Same, 1.01}, {analysis.TooFew, 0.97}} {
		for i := range n {
			p := analysis.PairComparison{From: fmt.Sprintf("aws:region-%d", i), To: "gcp:northamerica-northeast1", BaseN: 8, OtherN: 8,
				BaseMedian: 100e6, OtherMedian: 100e6 * v.ratio, Ratio: v.ratio, P: 0.001, PAdjusted: 0.01, Verdict: v.verdict}
			if v.verdict != analysis.TooFew {
				p.Low, p.High = new(v.ratio*0.95), new(v.ratio*1.04)
			}
			m.Pairs = append(m.Pairs, p)
		}
	}
	rtt := m
	rtt.Metric = analysis.MetricRTT
	return &analysis.Comparison{Sides: []analysis.Side{{Name: "before.csv"}, {Name: "after.csv"}}, AtLeast: 0.05, Metrics: []analysis.MetricComparison{m, rtt}}
}

func TestComparison(t *testing.T) {
	for _, n := range []int{1, 3, 30} {
		figures := charts.Comparison(comparison(n))
		if len(figures) != 2 || figures[0].Name != "compare-goodput-1" || figures[1].Name != "compare-rtt-1" {
			t.Fatalf("%d figures: %v", len(figures), figures)
		}
		for _, f := range figures {
			labels := f.Labels()
			for i, a := range labels {
				for _, b := range labels[:i] {
					if overlap(a, b) {
						t.Errorf("%s of %d: %q and %q overlap", f.Name, n, a.Text, b.Text)
					}
				}
			}
		}
		if n == 3 {
			golden(t, "testdata/comparison.svg", svg(t, figures[0]))
		}
	}
	if got := charts.Comparison(&analysis.Comparison{Metrics: []analysis.MetricComparison{{}}}); len(got) > 0 {
		t.Errorf("nothing to compare makes %d figures", len(got))
	}
}
