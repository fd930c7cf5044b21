package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/analysis"
)

const published = "../../formats/testdata/"

// called is what a command said.
type called struct {
	out, err string // standard output and error
	code     int
}

// call runs antipode in this process.
func call(args ...string) called {
	var out, errs bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(args)
	err := root.Execute()
	if err != nil {
		errs.WriteString(err.Error())
	}
	return called{out.String(), errs.String(), exitCode(err)}
}

func TestReportJSON(t *testing.T) {
	got := call("report", published+"intercloud/results_202202.csv", "--locations", published+"intercloud/locations.csv", "--json")
	var r analysis.Report
	if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != 0 {
		t.Fatalf("code %d, %v: %s", got.code, err, got.err)
	}
	if r.Rows.Accepted != 2138 || r.Method.Coordinates != published+"intercloud/locations.csv" || len(r.Misplaced) != 2 || len(r.Groups) != 5 {
		t.Errorf("rows %+v, method %+v, misplaced %v, %d groups", r.Rows, r.Method, r.Misplaced, len(r.Groups))
	}
	if again := call("report", published+"intercloud/results_202202.csv", "--locations", published+"intercloud/locations.csv", "--json"); again.out != got.out {
		t.Error("the same rows and seed give another report")
	}
}

func TestReportWritesItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "review")
	got := call("report", published+"tools/ping-linux.txt", published+"intercloud/results_202202.csv", "--out", dir)
	if got.code != 0 || !strings.Contains(got.out, "2,140 rows from 2 sources") || !strings.Contains(got.out, dir) {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
	}
	if want := "ping-linux.txt:15: set apart: ping of cut.example: neither answers nor a summary follow"; !strings.Contains(got.err, want) {
		t.Errorf("standard error lacks %q:\n%s", want, got.err)
	}
	for _, name := range []string{"report.json", "report.html", "charts/all.svg", "charts/all.png", "charts/aws-gcp.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReportPrintsSentences(t *testing.T) {
	got := call("report", published+"tools/iperf3-tcp.json")
	if want := "3 rows from 1 source: 2 ok, 1 failed, 0 skipped; 6 regions, 3 directed pairs."; got.code != 0 || !strings.HasPrefix(got.out, want) {
		t.Errorf("code %d, %q; want it to begin with %q", got.code, got.out, want)
	}
}

func TestReportRefuses(t *testing.T) {
	file := published + "intercloud/results_202202.csv"
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.WriteFile(closed, []byte("a file, not a folder"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":           {nil, "usage: antipode report FILE..."},
		"no such file":      {[]string{"nowhere.csv", "--json"}, `"nowhere.csv" is neither a file, nor a folder, nor a run in runs (--runs)`},
		"unknown kind":      {[]string{published + "README.md", "--json"}, "README.md: unknown kind of file"},
		"no run":            {[]string{published + "intercloud", "--json"}, "intercloud: no run's folder"},
		"out is a file":     {[]string{file, "--out", closed}, "--out: "},
		"out is empty":      {[]string{file, "--out", ""}, "--out: its value is empty"},
		"no locations":      {[]string{file, "--json", "--locations", "nowhere.csv"}, "--locations: read locations: open nowhere.csv"},
		"wrong locations":   {[]string{file, "--json", "--locations", file}, "results_202202.csv:1: no column cloud"},
		"seed":              {[]string{file, "--json", "--seed", "-1"}, "--seed"},
		"json with a value": {[]string{file, "--json=perhaps"}, "--json"},
		"runs is empty":     {[]string{file, "--json", "--runs", ""}, "--runs: its value is empty"},
		"another folder":    {[]string{"../x", "--json", "--runs", published}, "is neither a file"},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(append([]string{"report"}, c.args...)...)
			if got.code != exitUsage || !strings.Contains(got.err, c.want) {
				t.Errorf("code %d, want 2; %q, want %q in it", got.code, got.err, c.want)
			}
		})
	}
}
