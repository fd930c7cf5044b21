package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode"
	labworld "github.com/antipode-bench/antipode/lab/world"
	"github.com/antipode-bench/antipode/results"
)

// measuredRows are of three pairs of regions: one measured both ways and twice,
// one measured one way, one of which one end is unknown.
func measuredRows() []results.Row {
	ok := func(from, to string, rttMs, bps float64) results.Row {
		r := results.Row{RunID: "r1", Timestamp: "2026-11-30T10:15:00Z", Status: results.StatusOK, Path: "public", IPVersion: "4", RTTP50Ms: &rttMs, RTTMinMs: &rttMs}
		r.FromCloud, r.FromRegion, _ = antipode.SplitID(from)
		r.ToCloud, r.ToRegion, _ = antipode.SplitID(to)
		r.GoodputBps = &bps
		return r
	}
	failed := ok("aws:eu-west-1", "gcp:us-west1", 1, 0)
	failed.Status, failed.Error, failed.RTTP50Ms, failed.RTTMinMs, failed.GoodputBps = results.StatusFailed, "tcp connect: timed out", nil, nil, nil
	return []results.Row{
		ok("aws:us-east-1", "gcp:us-west1", 60, 80e6), ok("aws:us-east-1", "gcp:us-west1", 62, 90e6), ok("gcp:us-west1", "aws:us-east-1", 63, 40e6),
		ok("aws:eu-west-1", "aws:us-east-1", 70, 55e6), failed, ok("hosts:attic", "gcp:us-west1", 9, 1e9),
	}
}

// keepRows leaves a results file.
func keepRows(t *testing.T, file string, rows ...results.Row) {
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

func replayRegions(t *testing.T) (regions []antipode.Region) {
	t.Helper()
	for _, id := range []string{"aws:us-east-1", "gcp:us-west1", "aws:eu-west-1", "aws:sa-east-1"} {
		r, ok := antipode.Find(antipode.Regions(), id)
		if !ok {
			t.Fatal(id)
		}
		regions = append(regions, r)
	}
	return regions
}

func TestReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.csv")
	keepRows(t, file, measuredRows()...)
	regions := replayRegions(t)
	var said bytes.Buffer
	w, err := loadWorld(file, regions, &said)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"its 3 regions 1 are as measured both ways, 1 as measured one way", "1 follow from distance", "1 region of the file is not in this lab"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("said %q, want %q", said.String(), want)
		}
	}
	far := rttOf(labworld.Default(regions), "aws:sa-east-1", "gcp:us-west1")
	truth := map[string]labworld.Row{}
	for _, r := range w.Truth(nil, labworld.Test{}) {
		truth[fmt.Sprintf("%s:%s>%s:%s", r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion)] = r
	}
	for pair, want := range map[string]struct{ rttMs, bps float64 }{
		"aws:us-east-1>gcp:us-west1":  {62, 85e6}, // medians of a way, then their mean
		"gcp:us-west1>aws:us-east-1":  {62, 40e6},
		"aws:eu-west-1>aws:us-east-1": {70, 55e6},
		"aws:us-east-1>aws:eu-west-1": {70, 0},
		"aws:sa-east-1>gcp:us-west1":  {far, 0},
	} {
		got := truth[pair]
		if math.Abs(got.RTTMs-want.rttMs) > 1e-3 || want.bps > 0 && math.Abs(got.GoodputBps-want.bps) > 1 {
			t.Errorf("%s: %+v, want %+v", pair, got, want)
		}
	}
	if again, err := w.Marshal(); err != nil {
		t.Error(err)
	} else if _, err := labworld.Parse("again", again); err != nil {
		t.Errorf("a replayed world can't be read back: %v", err)
	}
}

func rttOf(w *labworld.World, from, to string) float64 {
	return w.Path(from, to).DelayMs + w.Path(to, from).DelayMs
}

// TestWorldFiles: what a world can be read from is told apart by content.
func TestWorldFiles(t *testing.T) {
	dir, regions := t.TempDir(), replayRegions(t)
	yaml, err := labworld.Default(regions).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"world.yaml":   {string(yaml), ""},
		"comment.yaml": {"# ours\n\n" + string(yaml), ""},
		"broken.yaml":  {"controler: {delay_ms: 1}\n", "controler"},
		"other.txt":    {"something else entirely", "or the lab's own world.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := loadWorld(file, regions, new(bytes.Buffer))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	empty := filepath.Join(dir, "empty.csv")
	keepRows(t, empty)
	if _, err := loadWorld(empty, regions, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "no row is a measurement") {
		t.Errorf("a file without rows: %v", err)
	}
	if _, err := loadWorld(filepath.Join(dir, "none"), regions, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a file that is not there: %v", err)
	}
}
