package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// repetitions writes a results file of eight repetitions of six pairs; the
// first pair's rate is changed by a factor.
func repetitions(t *testing.T, name string, factor float64, change func(*results.Row)) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(name))))
	path := filepath.Join(t.TempDir(), name)
	w, err := results.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	regions := []string{"us-east-1", "eu-west-1", "ap-south-1"}
	for i, from := range regions {
		for j, to := range regions {
			for repetition := range 8 {
				if i == j {
					continue
				}
				noise := 1 + 0.01*rng.Float64()
				r := results.Row{RunID: "run-a", Timestamp: fmt.Sprintf("2026-11-30T12:0%d:00Z", repetition), Status: "ok", FromCloud: "aws", FromRegion: from,
					ToCloud: "aws", ToRegion: to, FromMachine: "t3.nano", ToMachine: "t3.nano", DistanceKm: new(6000.0), CongestionControl: "cubic",
					RTTMinMs: new(80 * noise), RTTP50Ms: new(81 * noise), GoodputBps: new(1e8 * noise)}
				if i == 0 && j == 1 {
					*r.GoodputBps *= factor
				}
				if change != nil {
					change(&r)
				}
				if err := w.Write(r); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompare(t *testing.T) {
	a, b := repetitions(t, "a.csv", 1, nil), repetitions(t, "bb.csv", 0.8, nil)
	got := call("compare", a, b)
	lines := strings.Split(got.out, "\n")
	if got.code != 0 || !strings.HasPrefix(lines[0], "Goodput, ") || !strings.HasPrefix(strings.Join(strings.Fields(lines[2]), " "), "aws:us-east-1 aws:eu-west-1 101 Mbit/s 80.4 Mbit/s 0.799") || !strings.HasSuffix(lines[2], "regression") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
	}
	for _, want := range []string{"6 pairs compared, 1 regression, 0 improvements", "RTT, "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("lacks %q:\n%s", want, got.out)
		}
	}
	if got := call("compare", a, b, "--fail-on-regression", "10%"); got.code != exitRegression || !strings.Contains(got.err, "1 regression of 10% or more") {
		t.Errorf("--fail-on-regression 10%%: code %d, %q; want 6", got.code, got.err)
	}
	for _, args := range [][]string{{a, b, "--fail-on-regression", "30%"}, {b, a, "--fail-on-regression", "10%"}, {a, b, "--fail-on-regression", "10", "--metric", "rtt"}} {
		if got := call(append([]string{"compare"}, args...)...); got.code != 0 {
			t.Errorf("%v: code %d, %q; want 0", args[2:], got.code, got.err)
		}
	}
}

func TestCompareFormats(t *testing.T) {
	a, b := repetitions(t, "a.csv", 1, nil), repetitions(t, "bb.csv", 0.8, nil)
	dir := filepath.Join(t.TempDir(), "out")
	if got := call("compare", a, b, "--metric", "goodput", "--out", dir); got.code != 0 {
		t.Fatal(got)
	}
	lines, err := csv.NewReader(strings.NewReader(call("compare", a, b, "--metric", "goodput", "--format", "csv").out)).ReadAll()
	if err != nil || len(lines) != 7 || lines[1][len(lines[1])-1] != analysis.Regression {
		t.Errorf("csv: %v, %v", lines, err)
	}
	var c analysis.Comparison
	if err := json.Unmarshal([]byte(call("compare", a, b, "--format", "json").out), &c); err != nil || len(c.Metrics) != 2 || c.Sides[0].Rows != 48 {
		t.Errorf("json: %+v, %v", c, err)
	}
	md := call("compare", a, b, "--format", "markdown").out
	if !strings.Contains(md, "| aws:us-east-1 | aws:eu-west-1 | 101 Mbit/s |") && !strings.Contains(md, "| aws:us-east-1 | aws:eu-west-1 | 100 Mbit/s |") {
		t.Errorf("markdown:\n%s", md)
	}
	for _, name := range []string{"compare.txt", "compare.md", "compare.csv", "compare.json"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompareSlices(t *testing.T) {
	bbr := func(r *results.Row) { r.CongestionControl, r.FromMachine = "bbr", "c7i.large" }
	a, b := repetitions(t, "a.csv", 1, nil), repetitions(t, "bb.csv", 0.8, bbr)
	for by, want := range map[string]string{
		"congestion-control": "cubic against bbr", // by name
		"machine":            "t3.nano>t3.nano against c7i.large>t3.nano",
	} {
		if got := call("compare", a, b, "--by", by, "--metric", "goodput"); got.code != 0 || !strings.Contains(got.out, want) || !strings.Contains(got.out, "1 improvement") {
			t.Errorf("--by %s: code %d, want %q\n%s%s", by, got.code, want, got.out, got.err)
		}
	}
	if got := call("compare", published+"intercloud/results_202202.csv", "--by", "cloud-pair", "--metric", "rtt"); got.code != 0 || !strings.Contains(got.out, "gcp-gcp against aws-aws") {
		t.Errorf("--by cloud-pair: %d\n%s%s", got.code, got.out, got.err)
	}
}

func TestCompareRefuses(t *testing.T) {
	a, b := repetitions(t, "a.csv", 1, nil), repetitions(t, "bb.csv", 1, nil)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":       {nil, "usage: antipode compare A B"},
		"one file":      {[]string{a}, "name two files"},
		"one twice":     {[]string{a, a}, "is there twice"},
		"no such file":  {[]string{a, "nowhere"}, `"nowhere" is neither`},
		"by":            {[]string{a, b, "--by", "colour"}, `--by: "colour" is not one of cloud-pair, machine, network-tier, congestion-control`},
		"one slice":     {[]string{a, b, "--by", "machine"}, "--by machine: the rows are all of one slice"},
		"no slice":      {[]string{a, b, "--by", "network-tier"}, "--by network-tier"},
		"metric":        {[]string{a, b, "--metric", "speed"}, `--metric: "speed"`},
		"format":        {[]string{a, b, "--format", "xml"}, `--format: "xml" is not one of table, markdown, csv, json`},
		"at least":      {[]string{a, b, "--at-least", "much"}, "--at-least"},
		"fail on":       {[]string{a, b, "--fail-on-regression", "0%"}, "--fail-on-regression"},
		"fail too late": {[]string{a, b, "--fail-on-regression", "101%"}, "--fail-on-regression"},
		"locations":     {[]string{a, b, "--locations", "nowhere.csv"}, "--locations"},
		"seed":          {[]string{a, b, "--seed", "x"}, "--seed"},
		"out":           {[]string{a, b, "--out", a}, "--out"},
		"runs":          {[]string{a, b, "--runs", ""}, "--runs"},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(append([]string{"compare"}, c.args...)...)
			if got.code != exitUsage || !strings.Contains(got.err, c.want) {
				t.Errorf("code %d, want 2; %q, want %q in it", got.code, got.err, c.want)
			}
		})
	}
}
