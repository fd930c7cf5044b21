package analysis_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

func row(from, to string, km, rttMs, bps float64) results.Row {
	return results.Row{
		Status: results.StatusOK, FromCloud: from, FromRegion: "a", ToCloud: to, ToRegion: "b",
		DistanceKm: &km, RTTMinMs: &rttMs, RTTP50Ms: &rttMs, GoodputBps: &bps,
	}
}

func failed(from, to string) results.Row {
	return results.Row{Status: results.StatusFailed, FromCloud: from, ToCloud: to, DistanceKm: new(1.0), Error: "x"}
}

func TestGroups(t *testing.T) {
	skipped := failed("aws", "gcp")
	skipped.Status = results.StatusSkipped
	rows := []results.Row{
		row("gcp", "aws", 1000, 20, 1e8), row("aws", "gcp", 1000, 20, 1e8), failed("aws", "gcp"), skipped, failed("aws", "aws"),
	}
	type counts struct {
		Name                string
		OK, Failed, Skipped int
	}
	var got []counts
	for _, g := range analysis.Groups(rows) {
		got = append(got, counts{g.Name, g.OK, g.Failed, g.Skipped})
	}
	want := []counts{{"all", 2, 2, 1}, {"aws-aws", 0, 1, 0}, {"aws-gcp", 1, 1, 1}, {"gcp-aws", 1, 0, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGroupsOfNothing(t *testing.T) {
	groups := analysis.Groups(nil)
	if len(groups) != 1 || groups[0].Name != analysis.All || groups[0].RTT.Fit != nil {
		t.Errorf("Groups(nil) = %+v, want an empty group %q", groups, analysis.All)
	}
}

// Points on known lines come back as those lines.
func TestFit(t *testing.T) {
	var rows []results.Row
	for km := 1000.0; km <= 15_000; km += 1000 {
		rows = append(rows, row("aws", "aws", km, 3+km/100, math.Pow(10, 9-km/10_000)))
	}
	g := analysis.Groups(rows)[0]
	near := cmpopts.EquateApprox(0, 1e-9)
	if diff := cmp.Diff(&analysis.Fit{N: 15, R: 1, Slope: 0.01, Intercept: 3}, g.RTT.Fit, near); diff != "" {
		t.Errorf("RTT (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&analysis.Fit{N: 15, R: -1, Slope: -1e-4, Intercept: 9}, g.Goodput.Fit, near); diff != "" {
		t.Errorf("goodput (-want +got):\n%s", diff)
	}
	if got := g.RTT.Fit.At(2000); math.Abs(got-23) > 1e-9 {
		t.Errorf("At(2000) = %v, want 23", got)
	}
}

// Anscombe's first set, whose statistics are published: r = 0.816,
// y = 3.00 + 0.500 x.
func TestFitOfScatteredPoints(t *testing.T) {
	xs := []float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}
	ys := []float64{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}
	var rows []results.Row
	for i := range xs {
		rows = append(rows, row("aws", "aws", xs[i], ys[i], 1))
	}
	want := &analysis.Fit{N: 11, R: 0.816, Slope: 0.500, Intercept: 3.00}
	got := analysis.Groups(rows)[0].RTT.Fit
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 0.001)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoFitSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		rows []results.Row
		want string
	}{
		"none": {nil, "too few points for a line (3 needed)"},
		"two":  {[]results.Row{row("aws", "aws", 1, 1, 1), row("aws", "aws", 2, 2, 2)}, "too few points for a line (3 needed)"},
		"one distance": {[]results.Row{row("aws", "aws", 5, 1, 1), row("aws", "aws", 5, 2, 2), row("aws", "aws", 5, 3, 3)},
			"all distances are the same"},
		"one value": {[]results.Row{row("aws", "aws", 5, 1, 1), row("aws", "aws", 6, 1, 2), row("aws", "aws", 7, 1, 3)},
			"all values are the same"},
	} {
		t.Run(name, func(t *testing.T) {
			got := analysis.Groups(c.rows)[0].RTT
			if got.Fit != nil || got.NoFit != c.want {
				t.Errorf("Fit = %v, NoFit = %q, want %q", got.Fit, got.NoFit, c.want)
			}
		})
	}
}

func TestRowsThatCannotBePlottedAreCounted(t *testing.T) {
	noDistance, noRTT, stalled := row("aws", "aws", 1, 1, 1), row("aws", "aws", 1, 1, 1), row("aws", "aws", 1, 1, 0)
	noDistance.DistanceKm, noRTT.RTTP50Ms = nil, nil
	g := analysis.Groups([]results.Row{noDistance, noRTT, stalled, row("aws", "aws", 1, math.NaN(), 1), failed("aws", "aws")})[0]
	if len(g.RTT.Points) != 1 || g.RTT.Absent != 3 {
		t.Errorf("RTT: %d points, %d absent; want 1 and 3", len(g.RTT.Points), g.RTT.Absent)
	}
	if len(g.Goodput.Points) != 2 || g.Goodput.Absent != 2 {
		t.Errorf("goodput: %d points, %d absent; want 2 and 2", len(g.Goodput.Points), g.Goodput.Absent)
	}
}

func TestPhysics(t *testing.T) {
	const km = 10_000
	vacuumMs, fibreMs := antipode.VacuumRTTMs(km), antipode.FibreRTTMs(km)
	rows := []results.Row{
		row("aws", "gcp", km, fibreMs, 1), row("aws", "gcp", km, fibreMs-0.1, 1), row("aws", "gcp", km, vacuumMs-0.1, 1),
		row("aws", "gcp", 0, 0.1, 1), failed("aws", "gcp"),
	}
	type finding struct{ Flag, Text string }
	var got []finding
	for _, f := range analysis.Physics(rows) {
		got = append(got, finding{f.Flag, f.Text})
	}
	want := []finding{
		{results.BelowFibreFloor, "aws:a to gcp:b: an RTT of 97.8 ms is less than the 97.9 ms that light takes in fibre over 10,000 km"},
		{results.BelowVacuumFloor, "aws:a to gcp:b: an RTT of 66.6 ms is less than the 66.7 ms that light takes in vacuum over 10,000 km"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
