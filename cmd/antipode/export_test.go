package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExportJSONLines(t *testing.T) {
	got := call("export", published+"skyplane/latency_v2.csv.gz", published+"tools/ping-linux.txt", "--jsonl", "-")
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if got.code != 0 || len(lines) != 8012 || !strings.Contains(got.err, "8012 rows written") || !strings.Contains(got.err, "ping-linux.txt:15: set apart") {
		t.Fatalf("code %d, %d lines: %s", got.code, len(lines), got.err)
	}
	var first map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first["run_id"] != "file-latency-v2" || first["rtt_mean_ms"] != 105.976 {
		t.Errorf("first %v, %v", first, err)
	}
}

func TestExportParquet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	args := []string{"export", published + "intercloud/results_202202.csv", "--parquet", dir}
	if got := call(args...); got.code != 0 || !strings.Contains(got.err, "2138 rows written") {
		t.Fatalf("code %d: %s", got.code, got.err)
	}
	if runs, _ := filepath.Glob(filepath.Join(dir, "run_id=*", "part-0.parquet")); len(runs) != 13 {
		t.Errorf("%d runs, want 13", len(runs))
	}
	if got := call(args...); got.code != exitFailed || !strings.Contains(got.err, "file exists") {
		t.Errorf("the same once more: code %d, %q; want 1", got.code, got.err)
	}
}

func TestExportRefuses(t *testing.T) {
	file := published + "tools/ping-linux.txt"
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":    {[]string{"--jsonl", "-"}, "usage: antipode export FILE..."},
		"nowhere":    {[]string{file}, "either --parquet FOLDER or --jsonl FILE"},
		"both":       {[]string{file, "--jsonl", "-", "--parquet", there}, "either --parquet FOLDER or --jsonl FILE"},
		"no folder":  {[]string{file, "--parquet", there}, "--parquet: "},
		"overwrite":  {[]string{file, "--jsonl", there}, "--jsonl: "},
		"no file":    {[]string{"nowhere", "--jsonl", "-"}, `"nowhere" is neither`},
		"wrong file": {[]string{published + "README.md", "--jsonl", "-"}, "unknown kind of file"},
		"runs":       {[]string{file, "--jsonl", "-", "--runs", ""}, "--runs: its value is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(append([]string{"export"}, c.args...)...)
			if got.code != exitUsage || !strings.Contains(got.err, c.want) {
				t.Errorf("code %d, want 2; %q, want %q in it", got.code, got.err, c.want)
			}
		})
	}
}
