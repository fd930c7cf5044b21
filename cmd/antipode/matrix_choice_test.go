//go:build !race

package main

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/results"
)

// chosen sweeps with wishes, and returns the rows. Nothing may be left.
func (w *matrixWorld) chosen(t *testing.T, wish func(*orchestrator.Config)) []results.Row {
	t.Helper()
	cfg := w.config(t, filepath.Join(t.TempDir(), "run"))
	wish(&cfg)
	s, err := orchestrator.Run(t.Context(), cfg)
	if err != nil || s.Failed > 0 || s.Teardown != nil {
		t.Errorf("the sweep ends with %v: %+v", err, s)
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	file, err := results.ReadFile(filepath.Join(cfg.Dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return file.Rows
}

// TestChooseArm: Arm machines get images for their processors, or the doors
// refuse them.
func TestChooseArm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := openMatrixWorld(t, door.Faults{}).chosen(t, func(c *orchestrator.Config) {
			c.MachineTypes = map[string]string{"aws": "t4g.nano", "gcp": "c4a-standard-1"}
		})
		for _, r := range rows {
			if want := map[string]string{"aws": "t4g.nano", "gcp": "c4a-standard-1"}[r.FromCloud]; r.Status != results.StatusOK || r.FromMachine != want {
				t.Errorf("%s:%s is %s on %s, want ok on %s: %s", r.FromCloud, r.FromRegion, r.Status, r.FromMachine, want, r.Error)
			}
		}
	})
}

// TestChooseZonesAndTypes: where the zones that are wished for have no room for
// the first machine type, the rows say which zone and type it came to be.
func TestChooseZonesAndTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := func(cloud, call, zone string) fault.Call {
			return fault.Call{Place: fault.Place{Cloud: cloud, Zone: zone}, Call: call, Kind: fault.Capacity, Count: 1}
		}
		w := openMatrixWorld(t, door.Faults{Calls: []fault.Call{
			full("aws", "RunInstances", "eu-west-1c"), full("gcp", "instances.insert", "us-west1-c")}})
		rows := w.chosen(t, func(c *orchestrator.Config) {
			c.Choice = orchestrator.Choice{
				OtherTypes: map[string][]string{"aws": {"t4g.nano"}, "gcp": {"t2d-standard-1"}},
				Zones:      map[string][]string{ireland.ID(): {"eu-west-1c"}, oregon.ID(): {"us-west1-c"}, virginia.ID(): {"us-east-1d", "us-east-1a"}},
			}
		})
		want := map[string][2]string{
			ireland.Name: {"eu-west-1c", "t4g.nano"}, virginia.Name: {"us-east-1d", "t3.nano"},
			oregon.Name: {"us-west1-c", "t2d-standard-1"}, belgium.Name: {"europe-west1-b", "e2-small"},
		}
		for _, r := range rows {
			if got := [2]string{r.ToZone, r.ToMachine}; r.Status != results.StatusOK || got != want[r.ToRegion] {
				t.Errorf("%s is %s in %v, want ok in %v: %s", r.ToRegion, r.Status, got, want[r.ToRegion], r.Error)
			}
		}
	})
}

// TestChooseSpot: the rows say that spot machines took part.
func TestChooseSpot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := openMatrixWorld(t, door.Faults{}).chosen(t, func(c *orchestrator.Config) { c.Choice.Spot = true })
		for _, r := range rows {
			if r.Status != results.StatusOK || !r.HasFlag(results.FlagSpot) {
				t.Errorf("%s>%s is %s with the flags %q: %s", r.FromRegion, r.ToRegion, r.Status, r.Flags, r.Error)
			}
		}
	})
}

// TestChoosePrivatePath: pairs within Google Cloud are measured between private
// addresses, which its rules have to let in; the others are rows with a reason,
// for which nothing is made.
func TestChoosePrivatePath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openMatrixWorld(t, door.Faults{})
		rows := w.chosen(t, func(c *orchestrator.Config) { c.Choice.Path = orchestrator.PathPrivate })
		for _, r := range rows {
			status, why := results.StatusOK, ""
			switch {
			case r.FromCloud != r.ToCloud:
				status, why = results.StatusSkipped, "no network spans clouds"
			case r.FromCloud == "aws":
				status, why = results.StatusSkipped, "a network of AWS ends at its region"
			}
			if r.Status != status || !strings.Contains(r.Error, why) || r.Path != "private" || r.NetworkTier != "" {
				t.Errorf("%s>%s is %s by path %q, tier %q, want %s: %s", r.FromRegion, r.ToRegion, r.Status, r.Path, r.NetworkTier, status, r.Error)
			}
		}
		for _, call := range w.calls.all() {
			if call.cloud == "aws" {
				t.Errorf("AWS was asked to %s", call.name)
			}
		}
	})
}

// TestChooseNetworkTier: the tier is of every pair with an end in Google Cloud.
func TestChooseNetworkTier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := openMatrixWorld(t, door.Faults{}).chosen(t, func(c *orchestrator.Config) { c.Choice.NetworkTier = providers.StandardTier })
		for _, r := range rows {
			want := "standard"
			if r.FromCloud == "aws" && r.ToCloud == "aws" {
				want = ""
			}
			if r.Status != results.StatusOK || r.NetworkTier != want {
				t.Errorf("%s>%s is %s by tier %q, want %q: %s", r.FromRegion, r.ToRegion, r.Status, r.NetworkTier, want, r.Error)
			}
		}
	})
}

// TestChooseNetwork: a sweep within a network that another project shares makes
// none, leaves none of its rules in there, and a region without a subnet out.
func TestChooseNetwork(t *testing.T) {
	const shared = "projects/net-host-1/global/networks/shared"
	project := fault.Project{NoDefault: true, Networks: []fault.Network{{Name: "shared", Host: "net-host-1", Subnets: map[string][]string{oregon.Name: {"net"}}}}}
	synctest.Test(t, func(t *testing.T) {
		w := openMatrixWorld(t, door.Faults{Project: project})
		rows := w.chosen(t, func(c *orchestrator.Config) {
			c.Choice.Networks = map[string]string{oregon.ID(): shared, belgium.ID(): shared}
		})
		for _, r := range rows {
			status, why := results.StatusOK, ""
			if r.FromRegion == belgium.Name || r.ToRegion == belgium.Name {
				status, why = results.StatusSkipped, "network shared has no subnet here"
			}
			if r.Status != status || !strings.Contains(r.Error, why) {
				t.Errorf("%s>%s is %s, want %s: %s", r.FromRegion, r.ToRegion, r.Status, status, r.Error)
			}
		}
		for _, call := range w.calls.all() {
			if call.name == "networks.insert" || call.name == "subnetworks.insert" {
				t.Errorf("%s was called", call.name)
			}
		}
	})
}
