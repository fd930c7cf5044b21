package formats_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/antipode-bench/antipode/formats"
	"github.com/antipode-bench/antipode/results"
)

func exported() []results.Row {
	return []results.Row{
		{RunID: "run-a", Timestamp: "2026-11-30T12:00:00Z", Status: "ok", FromCloud: "aws", FromRegion: "us-east-1", ToCloud: "gcp", ToRegion: "us-east4",
			DistanceKm: new(0.0), RTTMinMs: new(0.5), RTTP50Ms: new(0.75), GoodputBps: new(1.25e9), Bytes: new(int64(1 << 40)), Streams: new(int64(1)), Flags: "burst"},
		{RunID: "run-b", Timestamp: "2026-11-30T13:00:00Z", Status: "failed", Error: `no "answer"`, FromCloud: "aws", FromRegion: "us-east-1", ToCloud: "gcp", ToRegion: "us-west1"},
		{RunID: "run-a", Timestamp: "2026-11-30T14:00:00Z", Status: "skipped", Error: "no quota", FromCloud: "gcp", FromRegion: "us-east4", ToCloud: "aws", ToRegion: "us-east-1"},
	}
}

func TestJSONLines(t *testing.T) {
	var b bytes.Buffer
	w := formats.NewJSONLines(&b)
	for _, r := range exported() {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	want := `{"run_id":"run-a","timestamp":"2026-11-30T12:00:00Z","status":"ok","from_cloud":"aws","from_region":"us-east-1","to_cloud":"gcp","to_region":"us-east4",` +
		`"distance_km":0,"rtt_min_ms":0.5,"rtt_p50_ms":0.75,"goodput_bps":1250000000,"bytes":1099511627776,"streams":1,"flags":"burst"}`
	if len(lines) != 3 || lines[0] != want {
		t.Errorf("%d lines; first\n%s, want\n%s", len(lines), lines[0], want)
	}
	var second map[string]any
	if err := json.Unmarshal([]byte(lines[1]), &second); err != nil || second["error"] != `no "answer"` || second["goodput_bps"] != nil {
		t.Errorf("second %v, %v", second, err)
	}
}

// partition is the part of a file's row that the test looks at.
type partition struct {
	Timestamp  time.Time `parquet:"timestamp,optional,timestamp(microsecond)"`
	Status     string    `parquet:"status,optional"`
	Error      string    `parquet:"error,optional"`
	GoodputBps *float64  `parquet:"goodput_bps,optional"`
	Bytes      *int64    `parquet:"bytes,optional"`
}

func TestParquet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	w, err := formats.NewParquet(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range exported() {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.ReadFile[partition](filepath.Join(dir, "run_id=run-a", "part-0.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(hour int) time.Time { return time.Date(2026, 11, 30, hour, 0, 0, 0, time.UTC) }
	want := []partition{{at(12), "ok", "", new(1.25e9), new(int64(1 << 40))}, {at(14), "skipped", "no quota", nil, nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run-a (-want +got):\n%s", diff)
	}
	again, err := formats.NewParquet(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Write(exported()[0]); err == nil || !strings.Contains(err.Error(), "run_id=run-a") {
		t.Errorf("a run that is there: %v, want an error that names its folder", err)
	}
}

func TestParquetRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := formats.NewParquet(file); err == nil {
		t.Error("a file was taken for a folder")
	}
	w, err := formats.NewParquet(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(results.Row{}); err == nil {
		t.Error("a row without a run was written")
	}
	if err := w.Write(results.Row{RunID: "x", Timestamp: "yesterday"}); err == nil {
		t.Error("a wrong time was written")
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestParquetOfManyRuns: more runs than are written at once, in any order, lose
// nothing.
func TestParquetOfManyRuns(t *testing.T) {
	dir := t.TempDir()
	w, err := formats.NewParquet(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		r := exported()[0]
		r.RunID = string(rune('a' + i%20))
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "run_id=*", "part-*.parquet"))
	rows := 0
	for _, file := range files {
		part, err := parquet.ReadFile[partition](file)
		if err != nil {
			t.Fatal(err)
		}
		rows += len(part)
	}
	if rows != 60 {
		t.Errorf("%d rows in %d files, want 60", rows, len(files))
	}
}
