package gcp

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/providertest"
)

// fine is what a region answers in which nothing is in the way.
func fine(name string, zones ...string) providers.RegionPreflight {
	return providers.RegionPreflight{Region: name, MachineType: DefaultMachineType, Zones: zones,
		Allowances: []providers.Allowance{{Name: "CPUS", Limit: 256, Machine: 2}, {Name: "IN_USE_ADDRESSES", Limit: 69, Machine: 1}}}
}

func fineOregon() providers.RegionPreflight {
	return fine(oregon, oregon+"-a", oregon+"-b", oregon+"-c")
}

func wanted(types ...string) providers.Wanted {
	return providers.Wanted{Regions: []string{belgium, oregon}, MachineTypes: types}
}

func TestPreflight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{}, nil)
		got := providers.Ask(t.Context(), w.provider, wanted("e2-zonk", DefaultMachineType))
		want := providers.Preflight{Cloud: Cloud, Account: door.DefaultProject,
			Allowances: []providers.Allowance{{Name: "CPUS_ALL_REGIONS", Limit: 720, Machine: 2}},
			Regions:    []providers.RegionPreflight{fine(belgium, belgium+"-b", belgium+"-c", belgium+"-d"), fineOregon()}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("preflight (-want +got):\n%s", diff)
		}
		if left := w.Left(); len(left) > 0 {
			t.Errorf("a preflight made %v", left)
		}
	})
}

// TestPreflightOfProject has something in the way of every region.
func TestPreflightOfProject(t *testing.T) {
	denied := func(call string) door.Faults {
		return door.Faults{Calls: []fault.Call{{Call: call, Kind: fault.Denied}}}
	}
	project := func(p fault.Project) door.Faults { return door.Faults{Project: p} }
	for name, tt := range map[string]struct {
		faults  door.Faults
		verdict providers.Verdict
		says    string
	}{
		"MissingPermission": {denied("firewalls.insert"), providers.VerdictRefuse, "permissions compute.firewalls.create; the role"},
		"NoProject":         {denied("projects.get"), providers.VerdictRefuse, "projects.get"},
		"APIDisabled":       {project(fault.Project{APIDisabled: true}), providers.VerdictRefuse, "gcloud services enable compute.googleapis.com --project antipode-lab"},
		"MayNotAsk":         {denied("projects.testIamPermissions"), providers.VerdictWarn, "enable cloudresourcemanager"},
		"OSLogin":           {project(fault.Project{Metadata: map[string]string{"enable-oslogin": "true"}}), providers.VerdictWarn, "OS Login is on"},
		"GuestAttributes":   {project(fault.Project{Metadata: map[string]string{"enable-guest-attributes": "FALSE"}}), providers.VerdictWarn, "guest attributes are off"},
		"Global":            {door.Faults{Quotas: []fault.Allowance{{Quota: "CPUS_ALL_REGIONS", Limit: 1}}}, providers.VerdictRefuse, "CPUS_ALL_REGIONS: 0 of 1 used, and a machine takes 2"},
		"Throttled":         {door.Faults{Calls: []fault.Call{{Call: "projects.get", Kind: fault.Throttle}}}, providers.VerdictWarn, "not checked: projects.get"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := providers.Ask(t.Context(), openWorld(t, tt.faults, nil).provider, wanted(DefaultMachineType))
				if worst := providers.Worst(got.Findings); worst.Verdict != tt.verdict || !strings.Contains(worst.Reason, tt.says) {
					t.Errorf("findings %+v, want %s and %q", got.Findings, tt.verdict, tt.says)
				}
			})
		})
	}
}

// TestPreflightOfRegion has something in the way in Belgium, and nothing in Oregon.
func TestPreflightOfRegion(t *testing.T) {
	here := fault.Place{Cloud: Cloud, Region: belgium}
	for name, tt := range map[string]struct {
		faults  door.Faults
		verdict providers.Verdict
		says    string
	}{
		"CPUs":      {door.Faults{Quotas: []fault.Allowance{{Place: here, Quota: "CPUS", Limit: 1}}}, providers.VerdictSkip, "CPUS: 0 of 1 used, and a machine takes 2"},
		"Addresses": {door.Faults{Quotas: []fault.Allowance{{Place: here, Quota: "IN_USE_ADDRESSES"}}}, providers.VerdictSkip, "IN_USE_ADDRESSES: 0 of 0 used"},
		"Denied":    {door.Faults{Calls: []fault.Call{{Place: here, Call: "regions.get", Kind: fault.Denied}}}, providers.VerdictSkip, "regions.get"},
		"Down":      {door.Faults{Calls: []fault.Call{{Place: here, Call: "regions.get", Kind: fault.Silent}}}, providers.VerdictWarn, "not checked: regions.get"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openWorld(t, tt.faults, nil)
				got := providers.Ask(t.Context(), w.provider, wanted(DefaultMachineType))
				if worst := providers.Worst(got.Regions[0].Findings); worst.Verdict != tt.verdict || !strings.Contains(worst.Reason, tt.says) {
					t.Errorf("Belgium: %+v, want %s and %q", got.Regions[0].Findings, tt.verdict, tt.says)
				}
				if diff := cmp.Diff(fineOregon(), got.Regions[1]); diff != "" {
					t.Errorf("Oregon (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestPreflightSpot: what spot machines count for is not known.
func TestPreflightSpot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := door.Faults{Quotas: []fault.Allowance{{Quota: "CPUS"}, {Quota: "CPUS_ALL_REGIONS"}}}
		w := wanted(DefaultMachineType)
		w.Spot = true
		got := providers.Ask(t.Context(), openWorld(t, faults, nil).provider, w)
		if len(got.Findings)+len(got.Allowances)+len(got.Regions[0].Findings) > 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestPreflightZones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wanted(DefaultMachineType)
		w.Zones = map[string][]string{oregon: {oregon + "-c", oregon + "-a"}, belgium: {belgium + "-z"}}
		got := providers.Ask(t.Context(), openWorld(t, door.Faults{}, nil).provider, w)
		if verdict := providers.Worst(got.Regions[0].Findings).Verdict; verdict != providers.VerdictSkip {
			t.Errorf("a zone that is not there: %s", verdict)
		}
		if diff := cmp.Diff(fine(oregon, oregon+"-c", oregon+"-a"), got.Regions[1]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPreflightUnknownType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := providers.Ask(t.Context(), openWorld(t, door.Faults{}, nil).provider, wanted("e2-zonk", "z9-nano"))
		for _, r := range got.Regions {
			if worst := providers.Worst(r.Findings); worst.Verdict != providers.VerdictSkip || !strings.Contains(worst.Reason, "no zone that may be used offers e2-zonk or z9-nano") {
				t.Errorf("%s: %v", r.Region, r.Findings)
			}
		}
	})
}

// TestPreflightOfNewFamily: what has no quota in the API has none here.
func TestPreflightOfNewFamily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := providers.Ask(t.Context(), openWorld(t, door.Faults{}, nil).provider, wanted("c4-standard-4"))
		want := []providers.Allowance{{Name: "IN_USE_ADDRESSES", Limit: 69, Machine: 1}}
		if diff := cmp.Diff(want, got.Regions[0].Allowances); diff != "" {
			t.Error(diff)
		}
		if all, _ := providers.Tightest(got.Allowances); all.Room() != 180 {
			t.Errorf("room for %d machines in all, want 180", all.Room())
		}
	})
}

// TestPreflightEnds though nobody answers.
func TestPreflightEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{Calls: []fault.Call{{Kind: fault.Silent}}}, nil)
		providertest.PreflightEnds(t, w.provider, wanted(DefaultMachineType))
	})
}

// TestPoliciesAreExplained where they come: an organisation's policy is a reason
// to skip, in words.
func TestPoliciesAreExplained(t *testing.T) {
	for policy, says := range map[string]string{
		fault.NoExternalAddress: "external addresses are forbidden",
		fault.RequireOSLogin:    "OS Login is required",
		fault.NoGuestAttributes: "guest attributes are forbidden",
	} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openWorld(t, door.Faults{Project: fault.Project{Policies: []string{policy}}}, nil)
				_, err := w.provider.Launch(t.Context(), providers.Spec{
					Run: providers.Run{ID: "r1", Expires: time.Now().Add(time.Hour)}, Region: oregon, MachineType: DefaultMachineType,
					AuthorizedKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop", SSHFrom: netip.MustParseAddr("198.18.0.1")})
				if providers.KindOf(err) != providers.Skip || !strings.Contains(err.Error(), "organisation policy "+policy+": "+says) {
					t.Errorf("Launch = %v, want it to name and explain %s", err, policy)
				}
				if err := w.provider.Destroy(t.Context(), "r1", []string{oregon}); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
