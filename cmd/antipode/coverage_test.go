package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/results"
)

func coverageText(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs(append([]string{"coverage"}, args...))
	err := root.Execute()
	return out.String(), err
}

func TestCoverage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "all.csv")
	const day = 24 * time.Hour
	writeRows(t, file,
		pairRow("r1", results.StatusOK, "us-east-1", "us-west-2", 40*day+time.Hour), pairRow("r2", results.StatusOK, "us-east-1", "us-west-2", 3*day+time.Hour),
		pairRow("r1", results.StatusOK, "us-west-2", "us-east-1", 400*day), pairRow("r1", results.StatusFailed, "us-east-1", "eu-west-1", day),
		pairRow("r2", results.StatusFailed, "us-west-2", "us-east-1", day))
	text, err := coverageText(t, file)
	const want = `                   1  2  3
  1 aws:eu-west-1  -  .  .
  2 aws:us-east-1  x  -  3
  3 aws:us-west-2  . 99  -

2 of 6 directed pairs between 3 regions measured (33 %), 1 only failed, 3 missing
`
	if err != nil || !strings.HasPrefix(text, want) || !strings.Contains(text, "\nthe oldest from 20") {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, text))
	}
	text, err = coverageText(t, file, "--json", "--all")
	var c coverage
	if err == nil {
		err = json.Unmarshal([]byte(text), &c)
	}
	if err != nil || len(c.Regions) != 77 || c.Pairs != 5852 || c.Measured != 2 || c.Failed != 1 || len(c.Missing) != 5850 {
		t.Errorf("%v: %d regions, %d pairs, %d measured, %d failed, %d missing", err, len(c.Regions), c.Pairs, c.Measured, c.Failed, len(c.Missing))
	}
}

func TestCoverageRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no file":  {nil, "accepts 1 arg"},
		"not here": {[]string{"nowhere.csv"}, "open nowhere.csv"},
		"a flag":   {[]string{"nowhere.csv", "--matrix"}, "--matrix"},
	} {
		if _, err := coverageText(t, tt.args...); err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
