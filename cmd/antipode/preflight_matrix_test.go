//go:build !race

// Not under the race detector, as the matrix of faults, in whose world it is.

package main

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/providers"
)

// longestPreflight is what a preflight may take, whatever its calls meet.
const longestPreflight = time.Minute

// asked is one API call of a preflight: a row of its matrix.
type asked struct {
	cloud, region, call string // region is empty for what is global
}

// TestPreflightMatrix lets every API call that a preflight makes go wrong in every
// way, once and for good: what it finds out about which region, and whether the
// sweep then begins. Nothing is made by it, and it does not wait for long.
func TestPreflightMatrix(t *testing.T) {
	calls := fairPreflight(t)
	for _, call := range calls {
		for _, kind := range matrixKinds {
			for _, always := range []bool{false, true} {
				if kind == fault.BadOperation { // it begins none
					continue
				}
				t.Run(cell{matrixCall{cloud: call.cloud, call: call.call}, kind, always}.name(), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { call.test(t, kind, always) })
				})
			}
		}
	}
}

// fairPreflight records one in which nothing goes wrong. Regions of a cloud are
// asked the same: the first of them stands for all.
func fairPreflight(t *testing.T) (calls []asked) {
	synctest.Test(t, func(t *testing.T) {
		w := openMatrixWorld(t, door.Faults{})
		if found := worst(w.preflight(t)); len(found) > 0 {
			t.Fatalf("a fair preflight finds %v", found)
		}
		for _, a := range w.calls.all() {
			call := asked{a.cloud, a.region, a.name}
			n := slices.IndexFunc(calls, func(c asked) bool { return c.cloud == call.cloud && c.call == call.call })
			switch {
			case n < 0:
				calls = append(calls, call)
			case call.region == ireland.Name || call.region == oregon.Name:
				calls[n] = call
			}
		}
	})
	if len(calls) < 15 {
		t.Fatalf("only %d calls recorded: %v", len(calls), calls)
	}
	return calls
}

func (w *matrixWorld) preflight(t *testing.T) preflight {
	return defaultSweepFlags().askClouds(t.Context(), w.providers, matrixRegions)
}

// worst is the gravest finding of each region and of each account that has one.
func worst(p preflight) map[string]providers.Finding {
	all := map[string]providers.Finding{}
	note := func(name string, findings []providers.Finding) {
		if f := providers.Worst(findings); f.Reason != "" {
			all[name] = f
		}
	}
	for _, cloud := range p {
		note(cloud.Cloud, cloud.Findings)
		for _, r := range cloud.Regions {
			note(cloud.Cloud+":"+r.Region, r.Findings)
		}
	}
	return all
}

func (a asked) test(t *testing.T, kind fault.Kind, always bool) {
	w := openMatrixWorld(t, door.Faults{Calls: []fault.Call{a.fault(kind, always)}})
	began := time.Now()
	p := w.preflight(t)
	if took := time.Since(began); took > longestPreflight {
		t.Errorf("it took %v, want at most %v", took, longestPreflight)
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("it made %v", left)
	}
	met := slices.ContainsFunc(w.calls.all(), func(c apiCall) bool { return c.name == a.call && c.fault == string(kind) })
	if met == a.untold(kind) {
		t.Errorf("%v met the fault: %v", a, met)
	}
	want := a.verdict(kind, always)
	found := worst(p)
	for _, place := range a.hit() {
		got := found[place]
		if got.Verdict == "" {
			got.Verdict = providers.VerdictGo
		}
		if got.Verdict != want {
			t.Errorf("%s: %s (%s), want %s", place, got.Verdict, got.Reason, want)
		}
		delete(found, place)
	}
	if len(found) > 0 && want != providers.VerdictRefuse { // then every region of it says so
		t.Errorf("others have findings: %v", found)
	}
	w.checkPermit(t, p, want)
}

// checkPermit: a sweep does not begin where an account refuses everything, and
// leaves out no region but those that are barred.
func (w *matrixWorld) checkPermit(t *testing.T, p preflight, want providers.Verdict) {
	t.Helper()
	err := p.permit(w.config(t, t.TempDir()).Pairs)
	if refused := exitCode(err) == exitRefused; refused != (want == providers.VerdictRefuse) {
		t.Errorf("permit = %v, with the verdict %q", err, want)
	}
	if barred := len(p.barred()) > 0; barred != (want == providers.VerdictSkip || want == providers.VerdictRefuse) {
		t.Errorf("barred are %v, with the verdict %q", p.barred(), want)
	}
}

// hit is where a fault shows: in the account, in the region, or in all regions of
// the cloud where a list of all of them is asked for.
func (a asked) hit() []string {
	switch {
	case slices.Contains([]string{"GetCallerIdentity", "DescribeRegions", "projects.get", "projects.testIamPermissions"}, a.call):
		return []string{a.cloud}
	case a.region == "":
		return []string{oregon.ID(), belgium.ID()}
	}
	return []string{a.cloud + ":" + a.region}
}

// verdict is what the preflight makes of a fault.
func (a asked) verdict(kind fault.Kind, always bool) providers.Verdict {
	switch {
	case a.is("DescribeRegions"), // then each region says by itself whether it is open
		a.untold(kind),
		a.cloud == "gcp" && kind == fault.Capacity,                                                    // only an operation ends for want of it
		kind == fault.Denied && a.is("DescribeInstances", "DescribeInstanceTypes", "GetServiceQuota"): // then the quota is unknown
		return providers.VerdictGo
	case a.is("GetCallerIdentity"):
		return identity(kind, always)
	case passes(kind) && kind != fault.Silent && !always:
		return providers.VerdictGo
	case passes(kind), a.is("projects.testIamPermissions"):
		return providers.VerdictWarn
	case a.is("projects.get"):
		return providers.VerdictRefuse
	}
	return providers.VerdictSkip
}

// identity: who can't say who they are can't be told what is in their way.
func identity(kind fault.Kind, always bool) providers.Verdict {
	if passes(kind) {
		if kind == fault.Silent || always {
			return providers.VerdictWarn
		}
		return providers.VerdictGo
	}
	return providers.VerdictRefuse
}

func (a asked) is(calls ...string) bool { return slices.Contains(calls, a.call) }

// untold: who only asks, with DryRun, is not told that there is no room.
func (a asked) untold(kind fault.Kind) bool {
	rehearsed := a.cloud == "aws" && (strings.HasPrefix(a.call, "Create") || a.is("ImportKeyPair", "RunInstances"))
	return rehearsed && (kind == fault.Capacity || kind == fault.Quota)
}
