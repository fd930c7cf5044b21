package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// pairRow is a row of a run, so long ago.
func pairRow(run, status, from, to string, age time.Duration) results.Row {
	r := results.Row{RunID: run, Timestamp: time.Now().Add(-age).UTC().Format(time.RFC3339), Status: status,
		FromCloud: "aws", FromRegion: from, ToCloud: "aws", ToRegion: to, Repetition: new(int64(1))}
	if status == results.StatusOK {
		r.RTTP50Ms, r.GoodputBps = new(100.), new(1e6)
	} else {
		r.Error = "why"
	}
	return r
}

func writeRows(t *testing.T, path string, rows ...results.Row) {
	t.Helper()
	w, err := results.Create(path)
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

const threeOfAWS = "us-east-1,us-west-2,eu-west-1"

// TestPlanInto leaves out what is ok, and not too old.
func TestPlanInto(t *testing.T) {
	file := filepath.Join(t.TempDir(), "all.csv")
	if f := forecastOf(t, "--regions", threeOfAWS, "--into", file); f.Pairs != 6 {
		t.Errorf("without the file %d pairs, want 6", f.Pairs)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a plan made the file")
	}
	writeRows(t, file,
		pairRow("r1", results.StatusOK, "us-east-1", "us-west-2", time.Hour), pairRow("r1", results.StatusOK, "us-west-2", "us-east-1", 48*time.Hour),
		pairRow("r1", results.StatusFailed, "us-east-1", "eu-west-1", time.Hour))
	for flag, want := range map[string]int{"--max-age=0": 4, "--max-age=24h": 5, "--max-age=10m": 6} {
		if f := forecastOf(t, "--regions", threeOfAWS, "--into", file, flag); f.Pairs != want {
			t.Errorf("%s: %d pairs, want %d", flag, f.Pairs, want)
		}
	}
	text, err := planOf(t, "--pairs", "aws:us-east-1>aws:us-west-2", "--into", file)
	if err != nil || !strings.Contains(text, "has every pair of these: nothing to measure") {
		t.Errorf("%q, %v", text, err)
	}
	if f := forecastOf(t, "--pairs", "aws:us-east-1>aws:us-west-2", "--into", file); f.Pairs != 0 || f.USD != 0 {
		t.Errorf("%+v", f)
	}
}

// TestIntoAdd: what was measured is added once, also if it is added again.
func TestIntoAdd(t *testing.T) {
	dir := t.TempDir()
	writeRows(t, filepath.Join(dir, "results.csv"),
		pairRow("r2", results.StatusOK, "a", "b", 0), pairRow("r2", results.StatusSkipped, "b", "a", 0), pairRow("r2", results.StatusFailed, "a", "c", 0))
	for name, before := range map[string][]results.Row{"new": nil, "there": {pairRow("r1", results.StatusOK, "a", "b", time.Hour)}} {
		f := intoFlags{file: filepath.Join(t.TempDir(), "all.csv")}
		if before != nil {
			writeRows(t, f.file, before...)
		}
		for range 2 {
			if err := f.add(dir); err != nil {
				t.Error(err)
			}
		}
		rows, err := f.rows()
		if err != nil || len(rows) != len(before)+2 {
			t.Errorf("%s: %d rows, %v; want %d", name, len(rows), err, len(before)+2)
		}
	}
	if err := (&intoFlags{}).add("/nowhere"); err != nil {
		t.Error(err)
	}
}

func TestIntoRefuses(t *testing.T) {
	dir := t.TempDir()
	cloud, other := filepath.Join(dir, "cloud.csv"), filepath.Join(dir, "other.csv")
	writeRows(t, cloud, pairRow("r1", results.StatusOK, "us-east-1", "us-west-2", time.Hour))
	if err := os.WriteFile(other, []byte("a,b\n1,2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no file":     {[]string{"--max-age", "1h"}, "--max-age 1h0m0s: is of the rows of a file; say which with --into"},
		"the future":  {[]string{"--into", cloud, "--max-age", "-1h"}, "--max-age -1h0m0s: not a time above zero, such as 720h"},
		"of a cloud":  {[]string{"--into", cloud, "--lab"}, fmt.Sprintf("--into %s: has rows of clouds", cloud)},
		"no results":  {[]string{"--into", other}, "--into: append to results: " + other},
		"in a folder": {[]string{"--into", dir}, "--into: append to results: "},
	} {
		if _, err := planOf(t, append(tt.args, "--regions", threeOfAWS)...); err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
