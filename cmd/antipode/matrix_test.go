//go:build !race

// Not under the race detector: a crash of Go 1.26's runtime (SIGSEGV in
// timer.maybeRunChan) was seen on a timer in a synctest bubble, of which there are
// very many here. The providers' own conformance suites are run with it.

package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/results"
)

// matrixKinds are what can happen to a call.
var matrixKinds = []fault.Kind{fault.Throttle, fault.Error500, fault.ResetAfter, fault.Silent, fault.Capacity, fault.Quota, fault.Denied, fault.BadOperation}

// matrixCall is one API call of a fair sweep: a row of the matrix.
type matrixCall struct {
	cloud, call string
	global      bool // not of a region
	launch      bool // used before teardown
	teardown    bool // used in teardown
	ownVPC      bool // of a sweep that finds no default VPC in the region
}

func (c matrixCall) String() string { return c.cloud + " " + c.call }

// operates says whether the call begins an operation.
func (c matrixCall) operates() bool {
	_, verb, _ := strings.Cut(c.call, ".")
	return c.cloud == "gcp" && (verb == "insert" || verb == "delete" || verb == "patch")
}

// cell is one field of the matrix.
type cell struct {
	matrixCall
	kind   fault.Kind
	always bool // in the region, else the first time only
}

func (c cell) name() string {
	times := "once"
	if c.always {
		times = "always"
	}
	cloud := c.cloud
	if c.ownVPC {
		cloud += " without default VPC"
	}
	return fmt.Sprintf("%s/%s/%s/%s", cloud, cmp.Or(c.call, "every call"), c.kind, times)
}

func (c cell) faults() door.Faults {
	f := fault.Call{Place: fault.Place{Cloud: c.cloud}, Call: c.call, Kind: c.kind, Count: 1}
	if !c.global {
		f.Region = c.region()
	}
	if c.always {
		f.Count = 0
	}
	return door.Faults{Calls: []fault.Call{f}, NoDefault: noDefault(c.ownVPC)}
}

// noDefault are the regions that have no default VPC: the one that is hit, or none.
func noDefault(ownVPC bool) []string {
	if ownVPC {
		return []string{ireland.Name}
	}
	return nil
}

func (c cell) region() string {
	if c.cloud == "aws" {
		return ireland.Name
	}
	return oregon.Name
}

// regions are those of the sweep, one of each kind: one that is hit, one of its
// cloud, one of another.
func (c matrixCall) regions() []antipode.Region {
	if c.cloud == "aws" {
		return []antipode.Region{ireland, virginia, oregon}
	}
	return []antipode.Region{oregon, belgium, ireland}
}

// hit says whether the fault is one of the region's.
func (c cell) hit(r antipode.Region) bool {
	return r.Cloud == c.cloud && (c.global || r.Name == c.region())
}

// TestFaultMatrix lets every API call that a sweep makes go wrong in every way,
// once and for good, and looks how the sweep ends: rows, exit code, and nothing
// left behind, or else said so.
func TestFaultMatrix(t *testing.T) {
	calls := matrixCalls(t)
	var cells []cell
	for _, call := range calls {
		for _, kind := range matrixKinds {
			if kind == fault.BadOperation && !call.operates() {
				continue
			}
			cells = append(cells, cell{call, kind, false}, cell{call, kind, true})
		}
	}
	// A region that is down: no call to it gets through. Google Cloud's lists are
	// global, so it is known there that nothing was made.
	for _, kind := range []fault.Kind{fault.Error500, fault.Silent} {
		cells = append(cells,
			cell{matrixCall{cloud: "aws", launch: true, teardown: true}, kind, true},
			cell{matrixCall{cloud: "gcp", launch: true}, kind, true})
	}
	t.Logf("%d calls, %d cells", len(calls), len(cells))
	for _, c := range cells {
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, c.test)
		})
	}
}

// matrixCalls are the calls of a sweep where there are default VPCs, and of one
// where there is none those that are new, or are made in other parts of it.
func matrixCalls(t *testing.T) []matrixCall {
	calls := fairCalls(t, false)
	all := slices.Collect(maps.Values(calls))
	for name, c := range fairCalls(t, true) {
		usual := calls[name]
		if usual.ownVPC = true; usual != c && c.cloud == "aws" {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b matrixCall) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// fairCalls records a sweep in which nothing goes wrong: a call that is new in
// the providers is new in the matrix.
func fairCalls(t *testing.T, ownVPC bool) map[string]matrixCall {
	calls := map[string]matrixCall{}
	synctest.Test(t, func(t *testing.T) {
		w := openMatrixWorld(t, door.Faults{NoDefault: noDefault(ownVPC)})
		w.leavePlacementGroup(t)
		before := len(w.calls.all())
		s, err := w.sweep(t, filepath.Join(t.TempDir(), "run"))
		if code := exitCode(verdict(s, "", err)); code != exitOK || s.OK != s.Pairs {
			t.Fatalf("a fair sweep ends with %d, %v: %+v", code, err, s)
		}
		for _, a := range w.calls.all()[before:] {
			if ownVPC && a.region != ireland.Name {
				continue
			}
			c := calls[a.cloud+" "+a.name]
			c.cloud, c.call, c.global, c.ownVPC = a.cloud, a.name, a.region == "", ownVPC
			if a.phase == orchestrator.PhaseTeardown {
				c.teardown = true
			} else {
				c.launch = true
			}
			calls[a.cloud+" "+a.name] = c
		}
	})
	if len(calls) < 25 {
		t.Fatalf("only %d calls recorded: %v", len(calls), calls)
	}
	return calls
}

func (c cell) test(t *testing.T) {
	w := openMatrixWorld(t, c.faults())
	w.regions = c.regions()
	if c.is("DeletePlacementGroup") {
		w.leavePlacementGroup(t)
	}
	dir := filepath.Join(t.TempDir(), "run")
	s, err := w.sweep(t, dir)
	want := c.want()
	if got := exitCode(verdict(s, "", err)); !want.allows(got) {
		t.Errorf("exit code %d, want %d: %v, teardown: %v", got, want.exit, err, s.Teardown)
	}
	c.checkRows(t, dir, want)
	c.checkDealt(t, w)
	left := w.left()
	if s.Teardown == nil && (len(left) > 0 || len(s.Left) > 0) {
		t.Errorf("left behind without a word: %v", left)
	}
	if len(left) > 0 && !c.always {
		t.Errorf("left behind: %v", left)
	}
	c.checkCleanup(t, w)
}

// checkRows compares the status of every pair's row.
func (c cell) checkRows(t *testing.T, dir string, want ending) {
	file, err := results.ReadFile(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.regions()); len(file.Rows) != n*(n-1) {
		t.Errorf("%d rows of %d regions", len(file.Rows), n)
	}
	for _, r := range file.Rows {
		status := want.rest
		if c.hit(antipode.Region{Cloud: r.FromCloud, Name: r.FromRegion}) || c.hit(antipode.Region{Cloud: r.ToCloud, Name: r.ToRegion}) {
			status = want.hit
		}
		if !slices.Contains(strings.Split(status, " or "), r.Status) {
			t.Errorf("%s:%s>%s:%s is %s, want %s: %s", r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion, r.Status, status, r.Error)
		}
		if r.Status != results.StatusOK && r.Error == "" {
			t.Errorf("a row that is %s without a reason", r.Status)
		}
	}
}

// checkDealt proves that the cell tested something.
func (c cell) checkDealt(t *testing.T, w *matrixWorld) {
	dealt := slices.ContainsFunc(w.calls.all(), func(a apiCall) bool { return a.fault == string(c.kind) && (a.name == c.call || c.call == "") })
	if !dealt {
		t.Errorf("%s was not called: no fault was met", c.matrixCall)
	}
}

// checkCleanup: once the bad day is over, whatever was left is found and removed.
func (c cell) checkCleanup(t *testing.T, w *matrixWorld) {
	w.doors.LiftFaults()
	for cloud, p := range w.providers {
		var regions []string
		for _, r := range matrixRegions {
			if r.Cloud == cloud {
				regions = append(regions, r.Name)
			}
		}
		if err := p.Destroy(t.Context(), matrixRun, regions); err != nil {
			t.Errorf("clean-up of %s: %v", cloud, err)
		}
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left after the clean-up: %v", left)
	}
}
