package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// world makes rows: repetitions of every pair of so many regions, whose rates
// and RTTs waver by a few per cent.
type world struct {
	regions, repeat int
	spread          float64
	factor          func(from, to int) float64 // of the goodput
	rtt             func(from, to int) float64 // of the RTT
	rng             *rand.Rand
}

func (w world) rows() (rows []results.Row) {
	for from := range w.regions {
		for to := range w.regions {
			if from == to {
				continue
			}
			km := 500 + 700*math.Abs(float64(from-to))
			for range w.repeat {
				noise := func() float64 { return 1 + w.spread*w.rng.NormFloat64() }
				r := row("aws", "gcp", km, 5+0.015*km*w.rtt(from, to)*noise(), 1e9*w.factor(from, to)*noise())
				r.FromRegion, r.ToRegion = fmt.Sprintf("r%02d", from), fmt.Sprintf("r%02d", to)
				rows = append(rows, r)
			}
		}
	}
	return rows
}

func same(int, int) float64 { return 1 }

func compared(o analysis.CompareOptions, sides ...[]results.Row) *analysis.Comparison {
	c := analysis.NewCollector(builtIn())
	for i, rows := range sides {
		c.SetSide(string(rune('A' + i)))
		for _, r := range rows {
			c.Add(r)
		}
		c.End(results.Source{})
	}
	return analysis.Compare(c.Data(), o)
}

var goodputOnly = analysis.CompareOptions{Metrics: []string{analysis.MetricGoodput}, AtLeast: 0.05, Seed: 1}

// names lists the pairs with a verdict.
func names(m analysis.MetricComparison, verdict string) []string {
	found := []string{}
	for _, p := range m.Pairs {
		if p.Verdict == verdict {
			found = append(found, p.From+" "+p.To)
		}
	}
	return found
}

// TestCompareFindsWhatChanged: 20 % taken off three pairs of 30, eight
// repetitions: exactly these are reported, the worst first.
func TestCompareFindsWhatChanged(t *testing.T) {
	slower := map[[2]int]float64{{0, 1}: 0.80, {2, 5}: 0.78, {4, 3}: 0.82}
	base := world{6, 8, 0.03, same, same, rand.New(rand.NewPCG(1, 1))}
	other := base
	other.rng = rand.New(rand.NewPCG(1, 2))
	other.factor = func(from, to int) float64 {
		if f, ok := slower[[2]int{from, to}]; ok {
			return f
		}
		return 1
	}
	m := compared(goodputOnly, base.rows(), other.rows()).Metrics[0]
	want := []string{"aws:r02 gcp:r05", "aws:r00 gcp:r01", "aws:r04 gcp:r03"}
	got := names(m, analysis.Regression)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("regressions (-want +got):\n%s", diff)
	}
	for i := range 2 {
		if m.Pairs[i].Ratio > m.Pairs[i+1].Ratio {
			t.Errorf("the ratio %.3f comes before %.3f", m.Pairs[i].Ratio, m.Pairs[i+1].Ratio)
		}
	}
	for _, p := range m.Pairs[:3] {
		if p.Low == nil || !(*p.Low <= p.Ratio && p.Ratio <= *p.High) || *p.High >= 1 || p.PAdjusted < p.P {
			t.Errorf("%+v", p)
		}
	}
	if n := m.Count(analysis.Improvement); n != 0 || m.Tested != 30 {
		t.Errorf("%d improvements, corrected for %d pairs; want 0, 30", n, m.Tested)
	}
}

// TestCompareOfEquals: of two hundred comparisons of equal worlds no more report
// a regression than the level allows.
func TestCompareOfEquals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	alarms, large := 0, 0
	const comparisons = 200
	for range comparisons {
		w := world{5, 6, 0.10, same, same, rng}
		m := compared(analysis.CompareOptions{Metrics: []string{analysis.MetricGoodput}, Seed: 1}, w.rows(), w.rows()).Metrics[0]
		if m.Count(analysis.Regression)+m.Count(analysis.Improvement) > 0 {
			alarms++
		}
		for _, p := range m.Pairs {
			if p.Verdict == analysis.Regression && p.Worse(m.Metric) > 0.3 {
				large++
			}
		}
	}
	if alarms > comparisons*8/100 {
		t.Errorf("%d of %d comparisons of equals report something, want about 5 %% at most", alarms, comparisons)
	}
	if large > 0 {
		t.Errorf("%d regressions over 30 %%", large)
	}
}

func TestCompareTooFew(t *testing.T) {
	w := world{4, 3, 0.01, same, same, rand.New(rand.NewPCG(5, 6))}
	half := w
	half.factor = func(int, int) float64 { return 0.5 }
	m := compared(goodputOnly, w.rows(), half.rows()).Metrics[0]
	if n := m.Count(analysis.TooFew); n != 12 || m.Needed != 6 {
		t.Errorf("%d of 12 pairs have too few repetitions, %d needed; want 12, 6", n, m.Needed)
	}
	for _, p := range m.Pairs {
		if p.Low != nil || p.High != nil {
			t.Errorf("an interval of 3 repetitions: %+v", p)
		}
	}
	if got := m.Overall.Value; math.Abs(got-0.5) > 0.02 {
		t.Errorf("overall %v, want 0.5", got)
	}
}

// TestCompareRTT: a longer RTT is the regression, and less than half a
// millisecond is none.
func TestCompareRTT(t *testing.T) {
	w := world{4, 8, 0.001, same, same, rand.New(rand.NewPCG(7, 8))}
	slower := w
	slower.rtt = func(from, to int) float64 {
		switch {
		case from == 0 && to == 1:
			return 1.3
		case from == 1 && to == 0:
			return 0.7
		}
		return 1
	}
	o := analysis.CompareOptions{Metrics: []string{analysis.MetricRTT}, AtLeast: 0.02, Seed: 1}
	m := compared(o, w.rows(), slower.rows()).Metrics[0]
	if diff := cmp.Diff([]string{"aws:r00 gcp:r01"}, names(m, analysis.Regression)); diff != "" {
		t.Errorf("regressions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"aws:r01 gcp:r00"}, names(m, analysis.Improvement)); diff != "" {
		t.Errorf("improvements (-want +got):\n%s", diff)
	}
}

func TestCompareUnmatched(t *testing.T) {
	a, b, c := row("aws", "gcp", 1000, 20, 1e8), row("gcp", "aws", 1000, 20, 1e8), row("aws", "aws", 1000, 20, 1e8)
	lost := b
	lost.Status, lost.GoodputBps, lost.RTTP50Ms, lost.RTTMinMs = results.StatusFailed, nil, nil, nil
	m := compared(goodputOnly, []results.Row{a, b}, []results.Row{a, lost, c}).Metrics[0]
	if diff := cmp.Diff([][]string{{"gcp:a to aws:b"}, {"aws:a to aws:b"}}, [][]string{m.OnlyBase, m.OnlyOther}); diff != "" {
		t.Errorf("unmatched (-want +got):\n%s", diff)
	}
	if len(m.Pairs) != 1 || m.Pairs[0].Ratio != 1 {
		t.Errorf("matched %+v", m.Pairs)
	}
}

// TestCompareByPlace: pairs of different clouds match where their ends are in
// the same places.
func TestCompareByPlace(t *testing.T) {
	pair := func(cloud, from, to string, bps float64) results.Row {
		r := row(cloud, cloud, 6000, 90, bps)
		r.FromRegion, r.ToRegion = from, to
		return r
	}
	o := goodputOnly
	o.ByPlace = true
	m := compared(o, []results.Row{pair("aws", "us-east-1", "eu-west-2", 1e8), pair("aws", "sa-east-1", "eu-west-2", 1e8)},
		[]results.Row{pair("gcp", "us-east4", "europe-west2", 2e8), pair("gcp", "us-west1", "europe-west2", 1e8)}).Metrics[0]
	if len(m.Pairs) != 1 || m.Pairs[0].Ratio != 2 || len(m.OnlyBase) != 1 || len(m.OnlyOther) != 1 {
		t.Errorf("%+v", m)
	}
}
