//go:build !race

// Not under the race detector, as the matrix of faults, in whose world it is.

package main

import (
	"maps"
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

// elsewhereTested are calls that no matrix meets.
var elsewhereTested = map[string]string{
	"projects.getXpnHost": "of a network that the user names in another project: providers/gcp tests it",
	"subnetworks.get":     "of a subnet that the user names: providers/gcp tests it",
}

// TestEveryCallIsInAMatrix: a call that is new in the providers is a row.
func TestEveryCallIsInAMatrix(t *testing.T) {
	met := maps.Clone(elsewhereTested)
	for _, c := range matrixCalls(t) {
		met[c.call] = "matrix of a sweep"
	}
	for _, a := range fairPreflight(t) {
		met[a.call] = "matrix of a preflight"
	}
	for _, p := range lifeMatrix {
		synctest.Test(t, func(t *testing.T) {
			for _, a := range newCalls(t, p.before, p.part) {
				met[a.call] = "matrix of a life"
			}
		})
	}
	outdated := maps.Clone(elsewhereTested)
	made := slices.Concat(callsIn(t, "aws", awsCalls), callsIn(t, "gcp", gcpCalls))
	if len(made) < 60 {
		t.Errorf("only %d calls in the code: %v", len(made), made)
	}
	for _, call := range made {
		if met[call] == "" {
			t.Errorf("%s is in no matrix", call)
		}
		delete(outdated, call)
	}
	for call := range outdated {
		t.Errorf("%s is made no more", call)
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
