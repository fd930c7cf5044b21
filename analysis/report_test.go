package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// reportRows reports on rows of one source.
func reportRows(places analysis.Places, rows ...results.Row) (*analysis.Data, *analysis.Report) {
	c := analysis.NewCollector(places)
	for _, r := range rows {
		c.Add(r)
	}
	c.End(results.Source{Name: "test", Rows: len(rows)})
	d := c.Data()
	return d, analysis.NewReport(d, 1)
}

// TestSlopesOfAKnownLine: RTT = 5 ms + 0.015 ms per km with noise, and a tenth of
// the pairs twice as slow: Theil-Sen finds the line, least squares does not, and
// the intervals hold what each estimates.
func TestSlopesOfAKnownLine(t *testing.T) {
	w := world{12, 2, 0.02, same, func(from, to int) float64 {
		if (from*7+to)%10 == 0 {
			return 2
		}
		return 1
	}, rand.New(rand.NewPCG(1, 2))}
	_, r := reportRows(builtIn(), w.rows()...)
	rel := r.Groups[0].RTT
	if rel.N != 264 || rel.PairMedians != 132 || rel.Slopes == 0 || rel.Sampled {
		t.Errorf("%+v", rel)
	}
	s := rel.TheilSen.SlopePerKm
	if math.Abs(s.Value-0.015) > 0.0008 || !(*s.Low < 0.015 && 0.015 < *s.High) {
		t.Errorf("Theil-Sen %v (%v to %v), want 0.015", s.Value, *s.Low, *s.High)
	}
	if math.Abs(rel.TheilSen.Intercept-5) > 2 {
		t.Errorf("intercept %v, want about 5", rel.TheilSen.Intercept)
	}
	if rel.LeastSquares.SlopePerKm.Value < 0.0155 {
		t.Errorf("least squares %v are not drawn away by what is slow", rel.LeastSquares.SlopePerKm.Value)
	}
}

// TestIntervalsCover: the intervals of a slope hold the truth nearly as often as
// they say (of so few regions a bootstrap's are somewhat too narrow), though rows
// share regions: each region has an effect of its own.
func TestIntervalsCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const worlds, regions = 30, 14
	held := 0
	for range worlds {
		effect := make([]float64, 2*regions) // of those that send, then of those that receive
		for i := range effect {
			effect[i] = 0.15 * rng.NormFloat64()
		}
		w := world{regions, 1, 0.02, same, func(from, to int) float64 { return 1 + effect[from] + effect[regions+to] }, rng}
		_, r := reportRows(builtIn(), w.rows()...)
		s := r.Groups[0].RTT.LeastSquares.SlopePerKm
		if *s.Low <= 0.015 && 0.015 <= *s.High {
			held++
		}
	}
	if held < worlds*85/100 {
		t.Errorf("%d of %d intervals of 95 %% hold the true slope", held, worlds)
	}
}

// TestTooFewForIntervals: with few regions there is no interval, and it is said.
func TestTooFewForIntervals(t *testing.T) {
	w := world{4, 1, 0.02, same, same, rand.New(rand.NewPCG(1, 2))}
	_, r := reportRows(builtIn(), w.rows()...)
	all := r.Groups[0]
	if all.RTT.Pearson == nil || all.RTT.Pearson.Low != nil || all.RTT.Caution == "" || all.RTTMs.Median.Low != nil {
		t.Errorf("%+v", all.RTT)
	}
	if text := strings.Join(all.Sentences, " "); !strings.Contains(text, "Too few regions for intervals") {
		t.Errorf("the sentences do not say so: %s", text)
	}
}

// TestNoFit: what can have no line has none, and says why.
func TestNoFit(t *testing.T) {
	for name, c := range map[string]struct {
		rows []results.Row
		want string
	}{
		"one pair":     {[]results.Row{row("aws", "gcp", 1000, 20, 1e8), row("aws", "gcp", 1000, 21, 1e8)}, "too few pairs for a line (3 needed)"},
		"one distance": {[]results.Row{row("aws", "gcp", 1000, 20, 1e8), row("gcp", "aws", 1000, 21, 1e8), row("gcp", "gcp", 1000, 22, 1e8)}, "all distances are the same"},
		"one value":    {[]results.Row{row("aws", "gcp", 1000, 20, 1e8), row("gcp", "aws", 1100, 20, 1e8), row("gcp", "gcp", 1200, 20, 1e8)}, "all values are the same"},
		"only failed":  {[]results.Row{failed("aws", "gcp")}, "too few pairs for a line (3 needed)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := reportRows(builtIn(), c.rows...)
			if rel := r.Groups[0].RTT; rel.NoFit != c.want || rel.Pearson != nil || rel.TheilSen != nil {
				t.Errorf("%+v, want no fit: %s", rel, c.want)
			}
		})
	}
}

func TestCountsAreComplete(t *testing.T) {
	skipped, within, unplaced := failed("aws", "gcp"), row("aws", "aws", 0, 1, 1e9), row("hosts", "gcp", 0, 20, 1e8)
	skipped.Status = results.StatusSkipped
	within.ToRegion = within.FromRegion
	unplaced.DistanceKm = nil
	d, r := reportRows(builtIn(), row("aws", "gcp", 1000, 20, 1e8), failed("aws", "gcp"), skipped, within, unplaced)
	want := analysis.RowCounts{Read: 5, Accepted: 5, OK: 3, Failed: 1, Skipped: 1, Within: 1, Unplaced: 1, Regions: len(d.Regions), Pairs: len(d.Pairs) - 1}
	if diff := cmp.Diff(want, r.Rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if all := r.Groups[0]; all.Rows != 4 || all.RTT.N != 1 || all.RTT.Absent != 1 {
		t.Errorf("all: %d rows, %d with distance, %d without; want 4, 1, 1", all.Rows, all.RTT.N, all.RTT.Absent)
	}
}

// TestOrderDoesNotMatter: the same rows in another order give the same findings.
func TestOrderDoesNotMatter(t *testing.T) {
	rows := world{8, 2, 0.05, same, same, rand.New(rand.NewPCG(1, 2))}.rows()
	_, want := reportRows(builtIn(), rows...)
	slices.Reverse(rows)
	_, got := reportRows(builtIn(), rows...)
	close := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a)) })
	if diff := cmp.Diff(want.Groups, got.Groups, close); diff != "" {
		t.Errorf("(-forward +backward):\n%s", diff)
	}
}

// TestManyRowsKeepNoRows: of more rows than are kept only the observations stay.
func TestManyRowsKeepNoRows(t *testing.T) {
	c := analysis.NewCollector(builtIn())
	for i := range analysis.MostRows + 1 {
		r := row("aws", "gcp", 1000, 20, 1e8)
		r.FromRegion = fmt.Sprint("r", i%3)
		c.Add(r)
	}
	c.AddSeries(0, results.Series{})
	c.End(results.Source{})
	d := c.Data()
	if d.Rows != nil || d.Series != nil || len(d.Obs) != analysis.MostRows+1 || len(d.PairRows()) != 3 {
		t.Errorf("%d rows, %d series, %d observations, %d pair rows", len(d.Rows), len(d.Series), len(d.Obs), len(d.PairRows()))
	}
}

// TestRemarks: what rows are flagged with is counted, and said first.
func TestRemarks(t *testing.T) {
	lab, both, plain := row("aws", "gcp", 1000, 20, 1e8), row("aws", "gcp", 1000, 20, 1e8), row("aws", "gcp", 1000, 20, 1e8)
	lab.Flags, both.Flags = results.FlagLab, results.FlagLab+";few-rounds"
	_, r := reportRows(builtIn(), lab, both, plain)
	if diff := cmp.Diff([]analysis.Remark{{Flag: "few-rounds", Rows: 1}, {Flag: "lab", Rows: 2}}, r.Remarks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "2 rows are measured on the lab"; !strings.HasPrefix(r.Sentences[1], want) {
		t.Errorf("%q, want it to begin with %q", r.Sentences[1], want)
	}
}

// TestPlaces: a row's own distance counts unless other coordinates override it.
func TestPlaces(t *testing.T) {
	r := row("aws", "gcp", 123, 20, 1e8)
	r.FromRegion, r.ToRegion = "us-east-1", "europe-west2"
	if d, _ := reportRows(builtIn(), r); d.Pairs[0].Km != 123 {
		t.Errorf("%v km, want the row's 123", d.Pairs[0].Km)
	}
	override := analysis.Places{Name: "x", Regions: antipode.Regions(), Override: true}
	if d, _ := reportRows(override, r); math.Abs(d.Pairs[0].Km-5900) > 100 {
		t.Errorf("%v km, want about 5900", d.Pairs[0].Km)
	}
	r.FromRegion = "nowhere"
	if d, report := reportRows(override, r); !math.IsNaN(d.Pairs[0].Km) || report.Rows.Unplaced != 1 {
		t.Errorf("%v km, %+v; want none", d.Pairs[0].Km, report.Rows)
	}
}
