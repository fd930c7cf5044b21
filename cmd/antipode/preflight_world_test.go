//go:build !race

// Not under the race detector, as the matrix of faults, in whose world it is.

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
)

// TestBarredRegionsAreLeftOut: what the preflight finds in the way becomes
// skipped rows with the reason, the rest is measured, and nothing is asked to
// be made where it would be refused.
func TestBarredRegionsAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openMatrixWorld(t, door.Faults{
			OptedOut: []string{ireland.Name},
			Quotas:   []fault.Allowance{{Place: fault.Place{Cloud: "gcp", Region: oregon.Name}, Quota: "CPUS", Limit: 1}},
		})
		dir := filepath.Join(t.TempDir(), "run")
		cfg := w.config(t, dir)
		found := defaultSweepFlags().askClouds(t.Context(), w.providers, matrixRegions)
		if err := found.permit(cfg.Pairs); err != nil {
			t.Fatalf("permit = %v", err)
		}
		cfg.Barred = found.barred()
		asked := len(w.calls.all())
		s, err := orchestrator.Run(t.Context(), cfg)
		if code := exitCode(verdict(s, "", err)); code != exitOK || s.OK != 2 || s.Skipped != 10 {
			t.Errorf("exit code %d, %v: %+v", code, err, s.Progress)
		}
		for _, c := range w.calls.all()[asked:] {
			if c.region == ireland.Name || c.region == oregon.Name && c.name != "regionOperations.get" {
				t.Errorf("the sweep called %s in %s", c.name, c.region)
			}
		}
		checkReasons(t, dir, map[string]string{ireland.Name: "aws account enable-region", oregon.Name: "quota CPUS: 0 of 1 used"})
		if left := w.left(); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// checkReasons: every skipped row tells what is in the way of one of its ends.
func checkReasons(t *testing.T, dir string, says map[string]string) {
	t.Helper()
	file, err := results.ReadFile(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Rows {
		told := slices.ContainsFunc([]string{r.FromRegion, r.ToRegion}, func(name string) bool {
			return says[name] != "" && strings.Contains(r.Error, says[name])
		})
		if (r.Status == results.StatusSkipped) != told {
			t.Errorf("%s > %s is %s: %s", r.FromRegion, r.ToRegion, r.Status, r.Error)
		}
	}
}

// TestPermit is when a sweep does not begin.
func TestPermit(t *testing.T) {
	deny := func(cloud, call string) fault.Call {
		return fault.Call{Place: fault.Place{Cloud: cloud}, Call: call, Kind: fault.Denied}
	}
	for name, tt := range map[string]struct {
		faults door.Faults
		pairs  []plan.Pair
		says   string // empty: it begins
	}{
		"fine":             {door.Faults{}, []plan.Pair{{From: ireland, To: oregon}}, ""},
		"one pair left":    {door.Faults{OptedOut: []string{ireland.Name}}, []plan.Pair{{From: ireland, To: oregon}, {From: virginia, To: oregon}}, ""},
		"no pair left":     {door.Faults{OptedOut: []string{ireland.Name}}, []plan.Pair{{From: ireland, To: oregon}, {From: oregon, To: ireland}}, "no pair is left of 2"},
		"may not launch":   {door.Faults{Calls: []fault.Call{deny("aws", "RunInstances")}}, []plan.Pair{{From: ireland, To: virginia}}, "no pair is left of 1"},
		"nobody on AWS":    {door.Faults{Calls: []fault.Call{deny("aws", "GetCallerIdentity")}}, []plan.Pair{{From: belgium, To: oregon}}, "nothing can be made in aws"},
		"no API on Google": {door.Faults{Project: fault.Project{APIDisabled: true}}, []plan.Pair{{From: ireland, To: virginia}}, "nothing can be made in gcp"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openMatrixWorld(t, tt.faults)
				err := defaultSweepFlags().askClouds(t.Context(), w.providers, matrixRegions).permit(tt.pairs)
				switch {
				case tt.says == "" && err != nil:
					t.Errorf("permit = %v", err)
				case tt.says != "" && (exitCode(err) != exitRefused || !strings.Contains(err.Error(), tt.says)):
					t.Errorf("permit = %v, want exit code %d and %q", err, exitRefused, tt.says)
				}
			})
		})
	}
}

// TestBatchesWithinTheQuota: with room for one of Google Cloud's two machines
// everything is measured but the pair of the two, by launching twice what the
// first batch had, in the same accounts and under the same names.
func TestBatchesWithinTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openMatrixWorld(t, door.Faults{Quotas: []fault.Allowance{{Quota: fault.AllCPUs, Limit: 3}}})
		dir := filepath.Join(t.TempDir(), "run")
		cfg := w.config(t, dir)
		found := defaultSweepFlags().askClouds(t.Context(), w.providers, matrixRegions)
		if err := found.permit(cfg.Pairs); err != nil {
			t.Fatalf("permit = %v", err)
		}
		if err := found.permit([]plan.Pair{{From: oregon, To: belgium}}); exitCode(err) != exitRefused {
			t.Errorf("permit of the pair that can't be = %v", err)
		}
		cfg.Barred, cfg.AtOnce = found.barred(), found.atOnce()
		s, err := orchestrator.Run(t.Context(), cfg)
		if code := exitCode(verdict(s, "", err)); code != exitOK || s.OK != 10 || s.Skipped != 2 || s.Batches != 2 || s.Ready != 6 {
			t.Errorf("exit code %d, %v: %+v", code, err, s.Progress)
		}
		if left := w.left(); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}
