package analysis_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/formats"
	"github.com/antipode-bench/antipode/results"
)

const (
	intercloud         = "../formats/testdata/intercloud/results_202202.csv"
	intercloudPlaces   = "../formats/testdata/intercloud/locations.csv"
	skyplaneThroughput = "../formats/testdata/skyplane/throughput_2022-01-24.csv.gz"
	skyplaneLatency    = "../formats/testdata/skyplane/latency_v2.csv.gz"
)

func builtIn() analysis.Places {
	return analysis.Places{Name: "built-in", Regions: antipode.Regions()}
}

// reportOn reads a published file and reports on it.
func reportOn(t *testing.T, places analysis.Places, files ...string) (*analysis.Data, *analysis.Report) {
	t.Helper()
	c := analysis.NewCollector(places)
	for _, file := range files {
		if err := formats.Read(file, c); err != nil {
			t.Fatal(err)
		}
	}
	d := c.Data()
	return d, analysis.NewReport(d, 1)
}

func check(t *testing.T, r *analysis.Report, flag string) analysis.Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.Flag == flag {
			return c
		}
	}
	t.Fatalf("no check %s", flag)
	return analysis.Check{}
}

func misplacedRegions(r *analysis.Report) []string {
	names := []string{}
	for _, m := range r.Misplaced {
		names = append(names, m.Region)
	}
	return names
}

// TestIntercloudWithItsOwnPlaces: the correlations that are published of this
// file, and the two regions whose coordinates are wrong.
func TestIntercloudWithItsOwnPlaces(t *testing.T) {
	regions, err := formats.ReadLocations(intercloudPlaces)
	if err != nil {
		t.Fatal(err)
	}
	_, r := reportOn(t, analysis.Places{Name: "locations.csv", Regions: regions, Override: true}, intercloud)
	if r.Rows.Accepted != 2138 || r.Rows.Read != 2138 || r.Rows.OK != 2138 || r.Rows.Unplaced != 0 {
		t.Errorf("rows %+v, want 2138", r.Rows)
	}
	all := r.Groups[0]
	for name, c := range map[string]struct{ got, want float64 }{
		"r of RTT":                      {all.RTT.Pearson.Value, 0.864},
		"r of the logarithm of goodput": {all.Goodput.Pearson.Value, -0.714},
	} {
		if math.Round(c.got*1000)/1000 != c.want {
			t.Errorf("%s = %.4f, want %.3f", name, c.got, c.want)
		}
	}
	if all.RTT.N != 2138 || all.Goodput.N != 2138 {
		t.Errorf("n = %d and %d, want 2138", all.RTT.N, all.Goodput.N)
	}
	if vacuum, fibre := check(t, r, results.BelowVacuumFloor), check(t, r, results.BelowFibreFloor); vacuum.Rows != 8 || fibre.Rows != 16 {
		t.Errorf("%d rows faster than light in vacuum, %d in fibre; want 8, 16", vacuum.Rows, fibre.Rows)
	}
	want := []string{"gcp:northamerica-northeast1", "gcp:southamerica-east1"} // 12 and 4 rows
	if diff := cmp.Diff(want, misplacedRegions(r)); diff != "" {
		t.Errorf("misplaced (-want +got):\n%s", diff)
	}
	for _, m := range r.Misplaced {
		known, _ := antipode.Find(antipode.Regions(), m.Region)
		if m.Likely == nil {
			t.Errorf("%s: no likely place", m.Region)
			continue
		}
		at := antipode.Region{Latitude: m.Likely.Latitude, Longitude: m.Likely.Longitude}
		t.Logf("%s; %.0f km from where it is", m.Sentence, antipode.DistanceKm(at, known))
		if off := antipode.DistanceKm(at, known); off > 150 {
			t.Errorf("%s is located %.0f km from where it is", m.Region, off)
		}
	}
	for _, s := range r.Sentences {
		t.Log(s)
	}
}

// TestIntercloudWithOurPlaces: with the right coordinates nothing is impossible.
func TestIntercloudWithOurPlaces(t *testing.T) {
	_, r := reportOn(t, builtIn(), intercloud)
	if vacuum, fibre := check(t, r, results.BelowVacuumFloor), check(t, r, results.BelowFibreFloor); vacuum.Rows != 0 || fibre.Rows != 0 || vacuum.Checked != 2138 {
		t.Errorf("vacuum %+v, fibre %+v; want no row of 2138", vacuum, fibre)
	}
	if len(r.Misplaced) != 0 {
		t.Errorf("misplaced %v", misplacedRegions(r))
	}
	for _, s := range r.Sentences {
		t.Log(s)
	}
}

// TestSkyplane: all rows of both files are there, those within one region apart.
func TestSkyplane(t *testing.T) {
	d, r := reportOn(t, builtIn(), skyplaneThroughput, skyplaneLatency)
	want := analysis.RowCounts{Read: 12042, Accepted: 12042, OK: 12042, Within: 42}
	want.Regions, want.Pairs = len(d.Regions), r.Rows.Pairs
	if diff := cmp.Diff(want, r.Rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	all := r.Groups[0]
	if all.Rows != 12000 || all.RTT.N != 7968 || all.Goodput.N != 4032 {
		t.Errorf("%d rows, %d RTTs, %d goodputs; want 12000, 7968, 4032", all.Rows, all.RTT.N, all.Goodput.N)
	}
	if len(r.Groups) != 10 {
		t.Errorf("%d groups, want all and nine of three clouds", len(r.Groups))
	}
	// Some of its RTTs, all from Google Cloud, are of a millisecond to the other
	// side of the Earth: that is not a matter of coordinates.
	if fibre := check(t, r, results.BelowFibreFloor); fibre.Rows != 248 || len(r.Misplaced) != 0 || r.NotPlaced == "" {
		t.Errorf("%d rows faster than light in fibre, misplaced %v, %q; want 248, none, and why", fibre.Rows, misplacedRegions(r), r.NotPlaced)
	}
}
