package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/results"
)

// Regions of a results file: between the first four every pair was measured both
// ways, from these to the second four one way, and of the last four nothing.
var (
	bothWays = []string{"aws:us-east-1", "aws:eu-west-1", "gcp:us-west1", "gcp:europe-west1"}
	oneWay   = []string{"aws:ap-northeast-1", "aws:sa-east-1", "gcp:asia-southeast1", "gcp:australia-southeast1"}
	noWay    = []string{"aws:us-west-2", "aws:ap-south-1", "gcp:asia-northeast1", "gcp:southamerica-east1"}
)

// replayTest sends little: the world is what is looked at.
var replayTest = []string{"--stop", "bytes", "--bytes", "20KB", "--rtt-probes", "20", "--rtt-interval", "5ms"}

// TestReplay turns measured rows into a world, sweeps it, and holds the sweep
// against the world's truth, and the truth against the rows.
func TestReplay(t *testing.T) {
	u := self(t)
	file := filepath.Join(u.dir, "measured.csv")
	measured := measuredRows()
	keepRows(t, file, measured)
	again(t, func(int) (wrong string) {
		args := append([]string{"sweep", "--lab", "--yes", "--world", file,
			"--regions", strings.Join(append(append(append([]string{}, bothWays...), oneWay...), noWay...), ",")}, replayTest...)
		if err := os.RemoveAll(filepath.Join(u.dir, "runs")); err != nil { // of the try before
			t.Fatal(err)
		}
		o := u.run(t, 4*time.Minute, args...)
		o.want(t, 0, "132 pairs: 132 ok, 0 failed, 0 skipped", "6 are as measured both ways, 16 as measured one way", "nothing is left")
		dir := u.runFolder(t)
		truth := readTable(t, filepath.Join(dir, "truth.csv"))
		for _, r := range measured {
			if rtt := truth.number(t, r, "rtt_ms"); math.Abs(rtt-*r.RTTP50Ms) > 1e-3 {
				t.Errorf("%s>%s: the truth is %v ms, the file says %v", r.FromRegion, r.ToRegion, rtt, *r.RTTP50Ms)
			}
			if bps := truth.number(t, r, "goodput_bps"); math.Abs(bps / *r.GoodputBps - 1) > 1e-6 {
				t.Errorf("%s>%s: the truth is %v bit/s, the file says %v", r.FromRegion, r.ToRegion, bps, *r.GoodputBps)
			}
		}
		off := 0
		for _, r := range readRows(t, dir) {
			want := truth.number(t, r, "rtt_ms")
			if math.Abs(*r.RTTP50Ms-want) > max(1, want/100) {
				off++
				wrong = fmt.Sprintf("%s>%s: RTT %.3f ms [%.3f-%.3f], the truth is %.3f; flags %q", r.FromRegion, r.ToRegion,
					*r.RTTP50Ms, *r.RTTMinMs, *r.RTTP99Ms, want, r.Flags)
				t.Log(wrong)
			}
		}
		t.Logf("132 pairs in %v, %d off by more than 1 %% and 1 ms", o.took.Round(100*time.Millisecond), off)
		return wrong
	})
}

// measuredRows are of no place in particular: round trips above light's, and
// rates that one flow can have with stock buffers.
func measuredRows() (rows []results.Row) {
	n := 0
	add := func(from, to string) {
		a, _ := antipode.Find(antipode.Regions(), from)
		b, _ := antipode.Find(antipode.Regions(), to)
		n++
		rttMs := math.Round(1500*antipode.FibreRTTMs(antipode.DistanceKm(a, b))) / 1000
		rows = append(rows, results.Row{RunID: "20261130t172233z-ab12", Timestamp: "2026-11-30T17:22:33Z", Status: results.StatusOK,
			FromCloud: a.Cloud, FromRegion: a.Name, ToCloud: b.Cloud, ToRegion: b.Name, Path: "public", IPVersion: "4",
			RTTMinMs: &rttMs, RTTP50Ms: &rttMs, GoodputBps: new(float64(20+n) * 1e6)})
	}
	for _, from := range bothWays {
		for _, to := range bothWays {
			if from != to {
				add(from, to)
			}
		}
		for _, to := range oneWay {
			add(from, to)
		}
	}
	return rows
}

func keepRows(t *testing.T, file string, rows []results.Row) {
	t.Helper()
	w, err := results.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
