package formats_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/formats"
	"github.com/antipode-bench/antipode/results"
)

// runFolder makes the folder of a run of two rows, the first with samples.
func runFolder(t *testing.T, dir string) {
	t.Helper()
	rows, err := os.ReadFile("../results/testdata/two-rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	file, err := results.ReadFile("../results/testdata/two-rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	r := file.Rows[0]
	pair := r.RunID + "," + r.FromCloud + "," + r.FromRegion + "," + r.ToCloud + "," + r.ToRegion + ","
	for name, text := range map[string]string{
		"results.csv": string(rows),
		"samples.csv": "run_id,from_cloud,from_region,to_cloud,to_region,stream,received_bytes,at_us,srtt_us\n" +
			pair + ",0,0,\n" + pair + ",1250000,100000,90000\n" + pair + "0,,100000,80000\n" + pair + ",3750000,200000,91000\n" + pair + ",37",
		"run.json": `{"schema": 4, "run_id": "x", "version": "v1", "started": "2026-11-30T12:00:00Z", "test": {"duration_ms": 10000}, "regions": [
			{"cloud": "hosts", "region": "attic", "latitude": 48, "longitude": 11, "machine": {"type": "host", "zone": "z"}, "probe": {"build": "v2", "kernel": "6.1", "cpus": 2, "congestion_control": "cubic"}},
			{"cloud": "hosts", "region": "moon", "unplaced": true}]}`,
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRunFolder: a run comes with its rows, what it measured with, its hosts'
// places and how its tests went on, as far as a torn file says.
func TestRunFolder(t *testing.T) {
	dir := t.TempDir()
	runFolder(t, dir)
	k := readFile(t, dir)
	s := k.sources[0]
	if len(k.sources) != 1 || s.Name != dir || s.Kind != "antipode" || s.Rows != 2 || len(k.rows) != 2 {
		t.Errorf("source %+v, %d rows", s, len(k.rows))
	}
	wantMachines := []results.MachineFacts{
		{Region: "hosts:attic", Zone: "z", Type: "host", Kernel: "6.1", CPUs: 2, CongestionControl: "cubic", Probe: "v2"}, {Region: "hosts:moon"},
	}
	if s.Run == nil || s.Run.RunID != "x" || s.Run.Version != "v1" || s.Run.Test["duration_ms"] != 10000.0 {
		t.Fatalf("run %+v", s.Run)
	}
	if diff := cmp.Diff(wantMachines, s.Run.Machines); diff != "" {
		t.Errorf("machines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]antipode.Region{{Cloud: "hosts", Name: "attic", Latitude: 48, Longitude: 11}}, k.places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	want := map[int]results.Series{0: {AtS: []float32{0.1, 0.2}, GoodputBps: []float32{1e8, 2e8}, RTTMs: []float32{90, 91}}}
	if diff := cmp.Diff(want, k.series); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// TestSamplesOfRepetitions: they go to the row of their repetition, though that of
// another has none.
func TestSamplesOfRepetitions(t *testing.T) {
	dir := t.TempDir()
	runFolder(t, dir)
	file, err := results.ReadFile(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "results.csv")); err != nil {
		t.Fatal(err)
	}
	w, err := results.Create(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	r := file.Rows[0]
	for repetition := range int64(3) {
		r.Repetition = new(repetition + 1)
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	line := r.RunID + "," + r.FromCloud + "," + r.FromRegion + "," + r.ToCloud + "," + r.ToRegion + ",,1250000,100000,90000,"
	text := "run_id,from_cloud,from_region,to_cloud,to_region,stream,received_bytes,at_us,srtt_us,repetition\n" + line + "3\n" + line + "1\n"
	if err := os.WriteFile(filepath.Join(dir, "samples.csv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	one := results.Series{AtS: []float32{0.1}, GoodputBps: []float32{1e8}, RTTMs: []float32{90}}
	if diff := cmp.Diff(map[int]results.Series{0: one, 2: one}, readFile(t, dir).series); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestFolderOfRuns(t *testing.T) {
	dir := t.TempDir()
	runFolder(t, filepath.Join(dir, "a"))
	runFolder(t, filepath.Join(dir, "b"))
	if err := os.Mkdir(filepath.Join(dir, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "b", "run.json")); err != nil {
		t.Fatal(err)
	}
	k := readFile(t, dir)
	if len(k.sources) != 2 || len(k.rows) != 4 || k.sources[1].Run != nil {
		t.Errorf("%d sources, %d rows, second %+v", len(k.sources), len(k.rows), k.sources[1])
	}
}

func TestBrokenRun(t *testing.T) {
	dir := t.TempDir()
	runFolder(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "run.json") + ": unexpected end of JSON input"
	if err := formats.Read(dir, &kept{}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
