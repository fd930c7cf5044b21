package analysis_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// machines gives a row's ends machine types, and streams.
func machines(r results.Row, from, to string, streams int64) results.Row {
	r.FromMachine, r.ToMachine, r.Streams = from, to, &streams
	return r
}

func TestChecks(t *testing.T) {
	back := func(r results.Row) results.Row {
		r.FromCloud, r.ToCloud, r.FromRegion, r.ToRegion = r.ToCloud, r.FromCloud, r.ToRegion, r.FromRegion
		return r
	}
	lab := machines(row("aws", "gcp", 1000, 20, 9e9), "t3.nano", "e2-small", 4)
	lab.Flags = results.FlagLab
	private := machines(row("gcp", "gcp", 1000, 20, 9e9), "n2-standard-2", "n2-standard-2", 8)
	private.Path = "private"
	for name, c := range map[string]struct {
		rows []results.Row
		want []string // "flag: the beginning of the text"
	}{
		"fine":             {[]results.Row{row("aws", "gcp", 1000, 20, 1e8), back(row("aws", "gcp", 1000, 21, 1.5e8))}, nil},
		"vacuum":           {[]results.Row{row("aws", "gcp", 1000, 6.67, 1e8)}, []string{"below-vacuum-floor: an RTT of 6.67 ms is less than the 6.67 ms", "below-fibre-floor: an RTT of 6.67 ms is less than the 9.79 ms"}},
		"fibre":            {[]results.Row{row("aws", "gcp", 1000, 9.7, 1e8)}, []string{"below-fibre-floor: an RTT of 9.70 ms"}},
		"at the floor":     {[]results.Row{row("aws", "gcp", 1000, 9.8, 1e8)}, nil},
		"RTT":              {[]results.Row{row("aws", "gcp", 1000, 30, 1e8), back(row("aws", "gcp", 1000, 20, 1e8))}, []string{"asymmetric-rtt: a median RTT of 30.0 ms, 20.0 ms the other way"}},
		"RTT by a little":  {[]results.Row{row("aws", "gcp", 100, 3, 1e8), back(row("aws", "gcp", 100, 1.5, 1e8))}, nil},
		"goodput":          {[]results.Row{row("aws", "gcp", 1000, 20, 1e8), back(row("aws", "gcp", 1000, 20, 2e8))}, []string{"asymmetric-goodput: a median goodput of 100 Mbit/s, 200 Mbit/s the other way"}},
		"EC2's machine":    {[]results.Row{machines(row("aws", "aws", 1000, 20, 5.3e9), "t3.nano", "unknown", 2)}, []string{"above-machine-cap: a goodput of 5.30 Gbit/s, though a machine of type t3.nano has at most 5.00 Gbit/s"}},
		"EC2's receiver":   {[]results.Row{machines(row("gcp", "aws", 1000, 20, 5.3e9), "unknown", "t3.nano", 2)}, []string{"above-machine-cap: a goodput"}},
		"GCP's receiver":   {[]results.Row{machines(row("aws", "gcp", 1000, 20, 4e9), "c7i.large", "e2-small", 1)}, nil},
		"within the slack": {[]results.Row{machines(row("aws", "aws", 1000, 20, 5.2e9), "t3.nano", "t3.nano", 1)}, nil},
		"GCP's flow":       {[]results.Row{machines(row("gcp", "aws", 1000, 20, 4e9), "n2-standard-2", "c7i.large", 1)}, []string{"above-flow-cap: a goodput of 4.00 Gbit/s, though what its flows can have together has at most 3.00 Gbit/s"}},
		"two flows":        {[]results.Row{machines(row("gcp", "aws", 1000, 20, 4e9), "n2-standard-2", "c7i.large", 2)}, nil},
		"the lab":          {[]results.Row{lab}, nil},
		"private":          {[]results.Row{private}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := reportRows(builtIn(), c.rows...)
			var got []string
			for _, f := range r.Flagged {
				got = append(got, f.Flag+": "+f.Text)
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("got %q, want it to begin with %q", got[i], c.want[i])
				}
			}
		})
	}
}

// TestBurst: a rate that falls and stays down is a burst that ran out, on a
// machine that has bursts; one that wavers, or falls late, is not.
func TestBurst(t *testing.T) {
	level := func(parts ...float32) (s results.Series) {
		for _, rate := range parts {
			for i := range 10 {
				s.GoodputBps = append(s.GoodputBps, rate*(1+float32(i%3)/100))
				s.AtS = append(s.AtS, float32(len(s.AtS)+1)/10)
				s.RTTMs = append(s.RTTMs, 0)
			}
		}
		return s
	}
	for name, c := range map[string]struct {
		machine string
		series  results.Series
		want    bool
	}{
		"ran out":        {"t3.nano", level(1e9, 1e9, 3e7, 3e7), true},
		"level":          {"t3.nano", level(1e9, 1e9, 1e9, 1e9), false},
		"a dip":          {"t3.nano", level(1e9, 3e7, 1e9, 1e9), false},
		"unsteady":       {"t3.nano", level(1e9, 1e9, 1e9, 5e8, 1e8), false},
		"no bursts":      {"c5.24xlarge", level(1e9, 1e9, 3e7, 3e7), false},
		"too short":      {"t3.nano", level(1e9), false},
		"nothing at all": {"t3.nano", level(0, 0, 0, 0), false},
	} {
		t.Run(name, func(t *testing.T) {
			col := analysis.NewCollector(builtIn())
			col.Add(machines(row("aws", "gcp", 1000, 20, 1e8), c.machine, "e2-small", 1))
			col.AddSeries(0, c.series)
			col.End(results.Source{})
			r := analysis.NewReport(col.Data(), 1)
			if got := check(t, r, analysis.BurstRanOut).Rows == 1; got != c.want {
				t.Errorf("flagged %v, want %v", got, c.want)
			}
		})
	}
}

// grid measures all pairs of regions at a speed that light allows, where some
// regions are taken to be elsewhere than they are.
func grid(t *testing.T, ids []string, moved map[string]string) (analysis.Places, []results.Row) {
	t.Helper()
	var regions []antipode.Region
	for _, id := range ids {
		r, ok := antipode.Find(antipode.Regions(), id)
		if !ok {
			t.Fatal(id)
		}
		regions = append(regions, r)
	}
	var rows []results.Row
	for _, a := range regions {
		for _, b := range regions {
			if a.ID() == b.ID() {
				continue
			}
			ms := 1 + 1.3*antipode.FibreRTTMs(antipode.DistanceKm(a, b))
			rows = append(rows, results.Row{Status: "ok", FromCloud: a.Cloud, FromRegion: a.Name, ToCloud: b.Cloud, ToRegion: b.Name, RTTMinMs: &ms, RTTP50Ms: &ms})
		}
	}
	places := analysis.Places{Name: "moved", Override: true}
	for _, r := range regions {
		if to, ok := moved[r.ID()]; ok {
			at, _ := antipode.Find(antipode.Regions(), to)
			r.Latitude, r.Longitude = at.Latitude, at.Longitude
		}
		places.Regions = append(places.Regions, r)
	}
	return places, rows
}

// TestMisplaced: regions that are said to be elsewhere are named and found; the
// one of a pair is named whose other rows are off.
func TestMisplaced(t *testing.T) {
	ids := []string{"aws:us-east-1", "aws:us-west-2", "aws:eu-west-1", "aws:eu-central-1", "aws:ap-northeast-1", "aws:ap-southeast-1", "aws:ap-southeast-2",
		"aws:sa-east-1", "aws:af-south-1", "aws:ap-south-1", "gcp:us-central1", "gcp:europe-north1", "gcp:asia-east1"}
	for name, moved := range map[string]map[string]string{
		"none": {},
		"one":  {"aws:eu-west-1": "aws:ap-south-1"},
		"two":  {"aws:sa-east-1": "aws:af-south-1", "gcp:asia-east1": "gcp:us-central1"},
	} {
		t.Run(name, func(t *testing.T) {
			places, rows := grid(t, ids, moved)
			_, r := reportRows(places, rows...)
			got := map[string]bool{}
			for _, m := range r.Misplaced {
				got[m.Region] = true
				was, _ := antipode.Find(antipode.Regions(), m.Region)
				if m.Likely == nil {
					t.Fatalf("%s: no likely place", m.Region)
				}
				if km := antipode.DistanceKm(was, antipode.Region{Latitude: m.Likely.Latitude, Longitude: m.Likely.Longitude}); km > 100 {
					t.Errorf("%s is found %.0f km from where it is", m.Region, km)
				}
			}
			want := map[string]bool{}
			for region := range moved {
				want[region] = true
			}
			if diff := cmp.Diff(want, got); diff != "" || r.NotPlaced != "" {
				t.Errorf("(-want +got):\n%s%s", diff, r.NotPlaced)
			}
		})
	}
}
