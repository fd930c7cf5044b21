//go:build !race

// Not under the race detector, as the matrix of faults, in whose world it is.

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// Calls as the providers' code has them.
var (
	awsCalls = regexp.MustCompile(`\br\.(?:ec2|ssm|sts|quotas)\.([A-Z]\w+)`)
	gcpCalls = regexp.MustCompile(`"([a-z]\w+\.[a-z]\w+)"`)
)

// TestEveryCallIsInAMatrix: a call that is new in the providers is a row.
func TestEveryCallIsInAMatrix(t *testing.T) {
	met := map[string]bool{}
	for _, c := range matrixCalls(t) {
		met[c.call] = true
	}
	for _, a := range fairPreflight(t) {
		met[a.call] = true
	}
	for _, p := range lifeMatrix {
		synctest.Test(t, func(t *testing.T) {
			for _, a := range newCalls(t, p.before, p.part) {
				met[a.call] = true
			}
		})
	}
	made := slices.Concat(callsIn(t, "aws", awsCalls), callsIn(t, "gcp", gcpCalls))
	if len(made) < 60 {
		t.Errorf("only %d calls in the code: %v", len(made), made)
	}
	for _, call := range made {
		if !met[call] {
			t.Errorf("%s is in no matrix", call)
		}
	}
}

func callsIn(t *testing.T, cloud string, calls *regexp.Regexp) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../../providers/" + cloud + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range calls.FindAllStringSubmatch(string(code), -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
