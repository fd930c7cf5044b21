package world

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/antipode-bench/antipode"
)

func commercial() []antipode.Region {
	return slices.DeleteFunc(slices.Clone(antipode.Regions()), func(r antipode.Region) bool {
		return r.Partition != "" || r.Cloud == "azure"
	})
}

func TestDefaultKeepsItsPromises(t *testing.T) {
	w := Default(commercial())
	rows := w.Truth(nil, Test{})
	if n := len(w.Regions); len(rows) != n*(n-1) {
		t.Fatalf("%d rows of %d regions", len(rows), n)
	}
	for _, from := range w.Regions {
		for _, to := range w.Regions {
			there, back := w.Path(from.ID, to.ID), w.Path(to.ID, from.ID)
			if there != back {
				t.Errorf("%s to %s: %+v there, %+v back", from.ID, to.ID, there, back)
			}
			km := antipode.DistanceKm(place(from), place(to))
			floor := max(0.6, antipode.FibreRTTMs(km)*1.3)
			if rtt := 2 * there.DelayMs; rtt < floor || rtt > max(0.6, antipode.FibreRTTMs(km)*1.9) {
				t.Errorf("%s to %s: RTT %v ms over %v km", from.ID, to.ID, rtt, km)
			}
			if there.FlowBps < 12e6 || there.FlowBps > 160e6 || there.LossRatio != 0 {
				t.Errorf("%s to %s: %+v", from.ID, to.ID, there)
			}
		}
		r := w.Machine(from.ID, "t3.nano")
		if r.EgressBps < 60e6 || r.EgressBps > 180e6 || r.IngressBps < 60e6 || r.IngressBps > 180e6 {
			t.Errorf("%s: %+v", from.ID, r)
		}
	}
	for _, row := range rows {
		if row.LimitedBy == "send-buffer" {
			t.Errorf("%s to %s is limited by its window", row.FromRegion, row.ToRegion)
		}
	}
}

func TestDefaultRatesFallWithDistance(t *testing.T) {
	var near, far []float64
	for _, row := range Default(commercial()).Truth(nil, Test{}) {
		switch {
		case row.RTTMs < 20:
			near = append(near, row.GoodputBps)
		case row.RTTMs > 200:
			far = append(far, row.GoodputBps)
		}
	}
	if len(near) == 0 || len(far) == 0 || mean(near) < 3*mean(far) {
		t.Errorf("mean goodput near %v, far %v", mean(near), mean(far))
	}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func TestMarshalParseRoundTrip(t *testing.T) {
	w := Default(commercial())
	delay := 12.5
	w.Pairs = []Pair{{From: w.Regions[0].ID, To: w.Regions[1].ID, DelayMs: &delay}}
	w.Pairs[0].Quirks = Quirks{LossBurst: 3, ReorderRatio: 0.01, ReorderMs: 2.5, PoliceBps: 20e6, MTUBytes: 1400, MTUICMP: true}
	w.MachineTypes = []MachineType{{Type: "t3.nano", EgressBps: 5e6, IngressBps: 6e6, Allowance: Allowance{BaselineBps: 3.2e6, BurstBytes: 1e9}}}
	data, err := w.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("world.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, got, cmpopts.IgnoreUnexported(World{})); diff != "" {
		t.Errorf("round trip (-want +got):\n%s", diff)
	}
	if strings.Contains(string(data), "e+") {
		t.Errorf("rates people can't read:\n%s", data)
	}
	if lines := strings.Count(string(data), "\n"); lines > len(w.Regions)+30 {
		t.Errorf("%d lines for %d regions:\n%s", lines, len(w.Regions), data)
	}
}

func parse(t *testing.T, text string) *World {
	t.Helper()
	w, err := Parse("world.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

const twoRegions = `
controller: {delay_ms: 0.25}
derive: {inflation_min: 1.5, inflation_max: 1.5, delay_min_ms: 0.3, flow_window_bytes: 500000, flow_max_bps: 160e6}
regions:
- {id: "aws:a", latitude: 0, longitude: 0, egress_bps: 100e6, ingress_bps: 90e6}
- {id: "gcp:b", latitude: 0, longitude: 90, egress_bps: 80e6, ingress_bps: 70e6}
machine_types:
- {type: big, egress_bps: 0, ingress_bps: 0}
- {type: big, region: "gcp:b", egress_bps: 200e6, ingress_bps: 200e6, baseline_bps: 50e6, burst_bytes: 1e9, queue_ms: 5}
pairs:
- {from: "aws:a", to: "gcp:b", delay_ms: 10, loss_ratio: 0.01, flow_bps: 50e6, duplicate_ratio: 0.1}
`

func TestPath(t *testing.T) {
	w := parse(t, twoRegions)
	derived := w.Path("gcp:b", "aws:a")
	wantMs := antipode.FibreRTTMs(math.Pi/2*antipode.EarthRadiusKm) * 1.5 / 2
	if math.Abs(derived.DelayMs-wantMs) > 1e-6 {
		t.Errorf("derived delay %v ms, want %v", derived.DelayMs, wantMs)
	}
	for name, c := range map[string]struct {
		from, to string
		want     Path
	}{
		"listed":          {"aws:a", "gcp:b", Path{DelayMs: 10, LossRatio: 0.01, FlowBps: 50e6, Quirks: Quirks{DuplicateRatio: 0.1}}},
		"within a region": {"aws:a", "aws:a", Path{DelayMs: 0.3, FlowBps: 160e6}},
		"from controller": {"", "aws:a", Path{DelayMs: 0.25}},
		"unknown":         {"aws:nowhere", "aws:a", Path{}},
	} {
		if got := w.Path(c.from, c.to); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestMachine(t *testing.T) {
	w := parse(t, twoRegions)
	for name, c := range map[string]struct {
		region, machineType string
		want                Rates
	}{
		"the region's":     {"aws:a", "small", Rates{EgressBps: 100e6, IngressBps: 90e6}},
		"the type's":       {"aws:a", "big", Rates{}},
		"the type's there": {"gcp:b", "big", Rates{200e6, 200e6, Allowance{50e6, 1e9, 5}}},
		"controller":       {"", "big", Rates{}},
	} {
		if got := w.Machine(c.region, c.machineType); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestTruth(t *testing.T) {
	w := parse(t, twoRegions)
	rtt := math.Round((10+w.Path("gcp:b", "aws:a").DelayMs)*1e4) / 1e4
	back := w.Path("gcp:b", "aws:a").FlowBps
	want := []Row{
		{"aws", "a", "gcp", "b", rtt, 48266667, "flow-cap"},
		{"gcp", "b", "aws", "a", rtt, math.Round(back * 1448 / 1500), "flow-cap"},
	}
	if diff := cmp.Diff(want, w.Truth(nil, Test{})); diff != "" {
		t.Errorf("truth (-want +got):\n%s", diff)
	}
}

func TestTruthNamesTheLimit(t *testing.T) {
	const regions = "regions:\n" +
		"- {id: 'aws:a', latitude: 0, longitude: 0, egress_bps: 100e6, ingress_bps: 100e6}\n" +
		"- {id: 'aws:b', latitude: 0, longitude: 0, egress_bps: 1e9, ingress_bps: 1e9}\n"
	for name, c := range map[string]struct {
		pair, limitedBy string
		goodputBps      float64
	}{
		"machine": {"pairs:\n- {from: 'aws:a', to: 'aws:b', delay_ms: 5}\n", "rate-cap", 96533333},
		"policer": {"pairs:\n- {from: 'aws:a', to: 'aws:b', flow_bps: 20e6, police_bps: 10e6}\n", "rate-cap", 9653333},
		"mtu":     {"pairs:\n- {from: 'aws:a', to: 'aws:b', delay_ms: 5, mtu_bytes: 1252}\n", "rate-cap", 95846645},
		"flow":    {"pairs:\n- {from: 'aws:a', to: 'aws:b', flow_bps: 20e6}\n", "flow-cap", 19306667},
		"window":  {"pairs:\n- {from: 'aws:a', to: 'aws:b', delay_ms: 1000}\n", "send-buffer", 23.2e6},
	} {
		row := parse(t, regions+c.pair).Truth(nil, Test{})[0]
		if row.LimitedBy != c.limitedBy || row.GoodputBps != c.goodputBps {
			t.Errorf("%s: %+v, want %s at %v", name, row, c.limitedBy, c.goodputBps)
		}
	}
}

// TestTruthOfTests: what is asked for limits too, and streams share it or not.
func TestTruthOfTests(t *testing.T) {
	const world = "regions:\n" +
		"- {id: 'aws:a', latitude: 0, longitude: 0, egress_bps: 100e6, ingress_bps: 100e6}\n" +
		"- {id: 'aws:b', latitude: 0, longitude: 0, egress_bps: 1e9, ingress_bps: 1e9}\n" +
		"pairs:\n- {from: 'aws:a', to: 'aws:b', delay_ms: 50, flow_bps: 30e6}\n- {from: 'aws:b', to: 'aws:a', delay_ms: 50}\n"
	for name, c := range map[string]struct {
		test       Test
		limitedBy  string
		goodputBps float64
	}{
		"one stream":          {Test{Streams: 1}, "flow-cap", 28.96e6},
		"two streams":         {Test{Streams: 2}, "flow-cap", 57.92e6},
		"four streams":        {Test{Streams: 4}, "rate-cap", 96533333},
		"small buffers":       {Test{Streams: 2, SendBufferBytes: 4 << 16}, "send-buffer", 29e6},
		"small windows":       {Test{Streams: 2, ReceiveWindowBytes: 64e3}, "receive-window", 10.24e6},
		"small segments":      {Test{MSSBytes: 460}, "flow-cap", 26.88e6},
		"paced":               {Test{Streams: 8, PacingBps: 20e6}, "rate-cap", 20e6},
		"little to send":      {Test{Streams: 8, RateBps: 10e6}, "application", 10e6},
		"more than it offers": {Test{RateBps: 50e6}, "flow-cap", 28.96e6},
	} {
		row := parse(t, world).Truth(nil, c.test)[0]
		if row.LimitedBy != c.limitedBy || row.GoodputBps != c.goodputBps {
			t.Errorf("%s: %+v, want %s at %v", name, row, c.limitedBy, c.goodputBps)
		}
	}
}

func TestTruthIsTheBaseline(t *testing.T) {
	row := parse(t, `
regions:
- {id: "aws:a", latitude: 0, longitude: 0, egress_bps: 100e6, ingress_bps: 100e6, baseline_bps: 30e6, burst_bytes: 1e9}
- {id: "aws:b", latitude: 0, longitude: 0, egress_bps: 100e6, ingress_bps: 100e6}
`).Truth(nil, Test{})
	for i, r := range row {
		if r.LimitedBy != "rate-cap" || r.GoodputBps != 28960000 {
			t.Errorf("row %d: %+v", i, r)
		}
	}
}

func TestPoliceBurst(t *testing.T) {
	for want, q := range map[float64]Quirks{
		15_000:  {PoliceBps: 1e6},
		250_000: {PoliceBps: 100e6},
		3000:    {PoliceBps: 100e6, PoliceBurstBytes: 3000},
	} {
		if got := q.PoliceBurst(); got != want {
			t.Errorf("%+v: %v bytes, want %v", q, got, want)
		}
	}
}

func TestWriteCSV(t *testing.T) {
	var out strings.Builder
	row := Row{"aws", "us-east-1", "gcp", "us-west1", 61.5, 48266666, "flow-cap"}
	if err := WriteCSV(&out, []Row{row}); err != nil {
		t.Fatal(err)
	}
	want := "from_cloud,from_region,to_cloud,to_region,rtt_ms,goodput_bps,limited_by\n" +
		"aws,us-east-1,gcp,us-west1,61.5,48266666,flow-cap\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// Every file in testdata/bad breaks one rule; its first line is a comment with
// the errors it must give, separated by " | ".
func TestParseRefuses(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(data), "\n")
			want := strings.Split(strings.TrimPrefix(first, "# "), " | ")
			_, err = Parse("world.yaml", data)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.yaml")
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Load of a missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte(twoRegions), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(twoRegions))
	f.Add([]byte("regions: [{id: 'a:b'}, [], 3]\npairs: {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Parse("world.yaml", data)
		if err != nil {
			return
		}
		for _, row := range w.Truth(nil, Test{}) {
			if math.IsNaN(row.RTTMs) || row.RTTMs < 0 || row.GoodputBps < 0 {
				t.Errorf("%+v", row)
			}
		}
	})
}
