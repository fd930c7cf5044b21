package charts_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/charts"
	"github.com/antipode-bench/antipode/results"
)

// commercial are the first n of the regions that a sweep chooses from.
func commercial(n int) (ids []string) {
	for _, r := range antipode.Regions() {
		if (r.Cloud == "aws" || r.Cloud == "gcp") && r.Partition == "" && len(ids) < n {
			ids = append(ids, r.ID())
		}
	}
	return ids
}

// data is what a report would be made of: of every seventh pair the test failed,
// every eleventh was not measured.
func data(t testing.TB, ids ...string) *analysis.Data {
	t.Helper()
	c := analysis.NewCollector(analysis.Places{Name: "built-in", Regions: antipode.Regions()})
	n := 0
	for i, r := range rows(t, ids...) {
		if i%11 == 10 {
			continue
		}
		if i%7 == 3 {
			fail(&r)
		}
		c.Add(r)
		if r.Status == results.StatusOK {
			c.AddSeries(n, series(*r.GoodputBps))
		}
		n++
	}
	c.End(results.Source{Name: "run", Kind: "antipode", Rows: n, Method: "As measured."})
	return c.Data()
}

// series is a slow start and then a rate that wavers.
func series(bps float64) (s results.Series) {
	for i := range 40 {
		at := 0.1 * float64(i+1)
		s.AtS = append(s.AtS, float32(at))
		s.GoodputBps = append(s.GoodputBps, float32(bps*(1-math.Exp(-2*at))*(1+0.05*math.Sin(9*at))))
	}
	return s
}

func all(t testing.TB, d *analysis.Data) []charts.Figure {
	t.Helper()
	return charts.All(d, nil)
}

func TestAllKinds(t *testing.T) {
	var got []string
	for _, f := range all(t, data(t, sixRegions()...)) {
		got = append(got, f.Name)
		if f.Title == "" || len(f.Alt) < 40 {
			t.Errorf("%s is called %q and described as %q", f.Name, f.Title, f.Alt)
		}
	}
	want := []string{"all", "aws-aws", "aws-gcp", "gcp-aws", "gcp-gcp", "rtt-matrix", "goodput-matrix", "distributions", "inflation", "regions", "map", "courses"}
	if !slices.Equal(got, want) {
		t.Errorf("figures %v, want %v", got, want)
	}
}

// What reviewers look at, of the kinds that a report adds.
func TestGoldenKinds(t *testing.T) {
	for _, f := range all(t, data(t, sixRegions()...)) {
		if slices.Contains([]string{"rtt-matrix", "goodput-matrix", "distributions", "inflation", "regions", "map", "courses"}, f.Name) {
			t.Run(f.Name, func(t *testing.T) { golden(t, "testdata/"+f.Name+".svg", svg(t, f)) })
		}
	}
}

// TestLittleData: what has no figures makes no chart, or one that says so.
func TestLittleData(t *testing.T) {
	for name, change := range map[string]func(*results.Row){
		"all failed":     fail,
		"no goodput":     func(r *results.Row) { r.GoodputBps = nil },
		"no RTT":         func(r *results.Row) { r.RTTP50Ms, r.RTTMinMs = nil, nil },
		"no distance":    func(r *results.Row) { r.FromRegion, r.DistanceKm = "nowhere", nil },
		"goodput of 0":   func(r *results.Row) { r.GoodputBps = new(0.0) },
		"within regions": func(r *results.Row) { r.ToCloud, r.ToRegion, r.DistanceKm = r.FromCloud, r.FromRegion, new(0.0) },
	} {
		t.Run(name, func(t *testing.T) {
			c := analysis.NewCollector(analysis.Places{Name: "built-in", Regions: antipode.Regions()})
			for _, r := range rows(t, sixRegions()[:3]...) {
				change(&r)
				c.Add(r)
			}
			c.End(results.Source{Name: "run", Kind: "antipode"})
			for _, f := range all(t, c.Data()) {
				if text := string(svg(t, f)); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
					t.Errorf("%s has a figure that is none", f.Name)
				}
				if _, err := f.PNG(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestLabelsDoNotOverlap looks at the boxes of all texts of all charts, of few
// regions and of many.
func TestLabelsDoNotOverlap(t *testing.T) {
	for _, n := range []int{2, 6, 46, 77} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			for _, f := range all(t, data(t, commercial(n)...)) {
				labels := f.Labels()
				if len(labels) < 5 {
					t.Errorf("%s has only %d texts", f.Name, len(labels))
				}
				for i, a := range labels {
					for _, b := range labels[:i] {
						if overlap(a, b) {
							t.Errorf("%s: %q and %q overlap", f.Name, a.Text, b.Text)
						}
					}
				}
			}
		})
	}
}

// overlap says whether two boxes do: they don't if a line separates them, and
// then one along a side of either does (the separating axis theorem).
func overlap(a, b charts.Label) bool {
	for _, box := range [][4]vg.Point{a.Corners, b.Corners} {
		for _, side := range [2][2]vg.Point{{box[0], box[1]}, {box[1], box[2]}} {
			axis := side[1].Sub(side[0])
			lowA, highA := along(axis, a.Corners)
			lowB, highB := along(axis, b.Corners)
			if highA <= lowB || highB <= lowA {
				return false
			}
		}
	}
	return true
}

func along(axis vg.Point, corners [4]vg.Point) (low, high vg.Length) {
	low, high = vg.Length(math.Inf(1)), vg.Length(math.Inf(-1))
	for _, p := range corners {
		v := p.X*axis.X + p.Y*axis.Y
		low, high = min(low, v), max(high, v)
	}
	return low, high
}
