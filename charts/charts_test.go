package charts_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/charts"
	"github.com/antipode-bench/antipode/results"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// rows makes every directed pair of the regions, with figures that look real
// and are the same every time.
func rows(t testing.TB, ids ...string) (out []results.Row) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, from := range ids {
		for _, to := range ids {
			a, okA := antipode.Find(antipode.Regions(), from)
			b, okB := antipode.Find(antipode.Regions(), to)
			if !okA || !okB {
				t.Fatalf("no region %s or %s", from, to)
			}
			if from != to {
				out = append(out, row(a, b, rng))
			}
		}
	}
	return out
}

func row(a, b antipode.Region, rng *rand.Rand) results.Row {
	km := antipode.DistanceKm(a, b)
	rttMs := 1 + antipode.FibreRTTMs(km)*(1.2+0.6*rng.Float64())
	return results.Row{
		RunID: "20261130-101500-abcd", Timestamp: "2026-11-30T10:15:00Z", Status: results.StatusOK,
		FromCloud: a.Cloud, FromRegion: a.Name, FromMachine: machine(a), ToCloud: b.Cloud, ToRegion: b.Name, ToMachine: machine(b),
		DistanceKm: &km, Path: "public", IPVersion: "4", Streams: new(int64(1)),
		RTTMinMs: &rttMs, RTTP50Ms: &rttMs, GoodputBps: new(4e10 / rttMs * (0.5 + rng.Float64())),
	}
}

func machine(r antipode.Region) string {
	return map[string]string{"aws": "t3.nano", "gcp": "e2-small"}[r.Cloud]
}

func sixRegions() []string {
	return []string{
		"aws:us-east-1", "aws:eu-central-1", "aws:ap-northeast-1",
		"gcp:us-west1", "gcp:southamerica-east1", "gcp:australia-southeast1",
	}
}

func fail(r *results.Row) {
	r.Status, r.Error = results.StatusFailed, "tcp connect: timed out"
	r.RTTMinMs, r.RTTP50Ms, r.GoodputBps, r.Streams = nil, nil, nil, nil
}

// The charts of each case are in testdata for reviewers to look at.
func TestGolden(t *testing.T) {
	failing := rows(t, sixRegions()...)
	for i := range failing {
		if i%5 == 1 {
			fail(&failing[i])
		}
	}
	lost := rows(t, sixRegions()[:4]...)
	for i := range lost {
		fail(&lost[i])
	}
	for name, c := range map[string]struct {
		rows   []results.Row
		figure string
	}{
		"six-regions": {failing, "all"},
		"aws-gcp":     {failing, "aws-gcp"},
		"all-failed":  {lost, "all"},
		"two-regions": {rows(t, sixRegions()[2:4]...), "all"},
		"no-rows":     {nil, "all"},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "testdata/"+name+".svg", svg(t, figure(t, c.rows, c.figure)))
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("differs from %s; look at both, then run with -update (-want +got):\n%s", path, diff)
	}
}

func figure(t *testing.T, rows []results.Row, name string) charts.Figure {
	t.Helper()
	figures := charts.Distance(rows)
	i := slices.IndexFunc(figures, func(f charts.Figure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no figure %s", name)
	}
	return figures[i]
}

func svg(t *testing.T, f charts.Figure) []byte {
	t.Helper()
	data, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOneFigurePerCloudPairPresent(t *testing.T) {
	for name, c := range map[string]struct {
		rows []results.Row
		want []string
	}{
		"two clouds": {rows(t, sixRegions()...), []string{"all", "aws-aws", "aws-gcp", "gcp-aws", "gcp-gcp"}},
		"one cloud":  {rows(t, sixRegions()[:3]...), []string{"all", "aws-aws"}},
		"two pairs":  {rows(t, "aws:us-east-1", "gcp:us-west1"), []string{"all", "aws-gcp", "gcp-aws"}},
		"none":       {nil, []string{"all"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range charts.Distance(c.rows) {
				got = append(got, f.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	ordered := rows(t, sixRegions()...)
	shuffled := slices.Clone(ordered)
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if !bytes.Equal(svg(t, figure(t, ordered, "all")), svg(t, figure(t, shuffled, "all"))) {
		t.Error("the same rows in another order give another SVG")
	}
}

// Every fate of every row is in the caption, in figures.
func TestCaptionAccountsForEveryRow(t *testing.T) {
	rs := rows(t, sixRegions()...)
	fail(&rs[0])
	fail(&rs[1])
	fail(&rs[2])
	rs[2].Status = results.StatusSkipped
	rs[3].GoodputBps = new(0.0)
	rs[4].RTTP50Ms = nil
	rs[5].RTTMinMs = new(0.1)
	rs[6].Flags = results.FlagSlowStart
	text := string(svg(t, figure(t, rs, "all")))
	for _, want := range []string{
		"30 directed pairs: 27 measured, 2 failed (crosses at the foot), 1 skipped.",
		"1 measured pair not on the left", "1 measured pair not on the right", "1 pair beat light in fibre",
		"1 pair did not leave slow start",
		"n = 26", "run 20261130-101500-abcd, 2026-11-30", "AWS t3.nano, GCP e2-small",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
}

// Nobody may take the lab's figures for a cloud's.
func TestCaptionNamesTheLab(t *testing.T) {
	const want = "Measured on the lab, not in a cloud."
	rs := rows(t, sixRegions()...)
	if text := string(svg(t, figure(t, rs, "all"))); strings.Contains(text, want) {
		t.Errorf("the figure of a cloud's rows says %q", want)
	}
	rs[7].Flags = "slow-start;" + results.FlagLab
	if text := string(svg(t, figure(t, rs, "all"))); !strings.Contains(text, want) {
		t.Errorf("the figure of a lab's rows does not say %q", want)
	}
}

// Whatever the rows, the documents are well-formed and every number in them is
// one.
func TestHardRows(t *testing.T) {
	outlier := rows(t, sixRegions()...)
	outlier[3].RTTP50Ms, outlier[4].GoodputBps, outlier[5].GoodputBps = new(90_000.0), new(1.0), new(4e13)
	same := rows(t, "aws:us-east-1", "gcp:us-east4", "azure:eastus") // one place
	odd := rows(t, "aws:us-east-1", "gcp:us-west1")
	odd[0].FromCloud, odd[0].RunID, odd[0].DistanceKm = `<&"'>`, strings.Repeat("long-", 60), nil
	for name, rs := range map[string][]results.Row{
		"none": nil, "one": rows(t, "aws:us-east-1", "gcp:us-west1")[:1], "outliers": outlier, "one place": same,
		"odd names": odd, "bare": {{}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range charts.Distance(rs) {
				checkSVG(t, svg(t, f))
			}
		})
	}
}

func checkSVG(t *testing.T, data []byte) {
	t.Helper()
	if bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Inf")) {
		t.Error("the SVG holds numbers that are none")
	}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the SVG is not XML: %v", err)
		}
	}
}

func TestPNG(t *testing.T) {
	data, err := figure(t, rows(t, sixRegions()...), "all").PNG()
	if err != nil {
		t.Fatal(err)
	}
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if got, want := fmt.Sprint(config.Width, config.Height), "2016 1133"; err != nil || got != want {
		t.Errorf("PNG of %s, %v; want %s", got, err, want)
	}
}
