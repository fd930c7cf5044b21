package gcp

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/model"
	"github.com/antipode-bench/antipode/providers"
)

// hostProject shares the network "shared" with the lab's project.
const hostProject = "net-host"

// networks are those of a project without a default one.
var networks = door.Faults{Project: fault.Project{NoDefault: true, Networks: []fault.Network{
	{Name: "wide", Auto: true},
	{Name: "lan", Subnets: map[string][]string{belgium: {"east", "west"}, oregon: {"lan"}}},
	{Name: "half", Subnets: map[string][]string{oregon: {"half"}}},
	{Name: "shared", Host: hostProject, Subnets: map[string][]string{belgium: {"net-a", "net-b"}, oregon: {"net"}}},
}}}

const sharedNetwork = "projects/" + hostProject + "/global/networks/shared"

// TestChosenNetwork: machines stand in the network that is named, where their
// peers reach them, and a clean-up elsewhere finds and removes the rules in it.
func TestChosenNetwork(t *testing.T) {
	for wish, want := range map[string]struct{ network, subnet string }{
		"":                       {"projects/antipode-lab/global/networks/antipode-r1", "projects/antipode-lab/regions/europe-west1/subnetworks/antipode-r1"},
		"wide":                   {"projects/antipode-lab/global/networks/wide", "projects/antipode-lab/regions/europe-west1/subnetworks/wide"},
		"lan/west":               {"projects/antipode-lab/global/networks/lan", "projects/antipode-lab/regions/europe-west1/subnetworks/west"},
		sharedNetwork + "/net-b": {sharedNetwork, "projects/net-host/regions/europe-west1/subnetworks/net-b"},
	} {
		t.Run(wish, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openWorld(t, networks, nil)
				before := w.Left()
				spec := testSpec(belgium)
				spec.Network = wish
				m, err := w.provider.Launch(t.Context(), spec)
				if err != nil {
					t.Fatal(err)
				}
				peer := netip.MustParseAddr("198.18.0.77")
				if err := w.provider.Admit(t.Context(), spec.Run, belgium, 9000, []netip.Addr{peer}); err != nil {
					t.Fatal(err)
				}
				if !w.reaches(m, "tcp", 22, spec.SSHFrom) || !w.reaches(m, "udp", 9000, peer) || w.reaches(m, "tcp", 9000, spec.SSHFrom) {
					t.Error("the rules are not those of the machine's network")
				}
				i, err := w.provider.instances.Get(t.Context(), &computepb.GetInstanceRequest{Project: door.DefaultProject, Zone: m.Zone, Instance: m.ID})
				if err != nil {
					t.Fatal(err)
				}
				nic := i.GetNetworkInterfaces()[0]
				if !strings.HasSuffix(nic.GetNetwork(), want.network) || !strings.HasSuffix(nic.GetSubnetwork(), want.subnet) {
					t.Errorf("it stands in %s, %s; want %+v", nic.GetNetwork(), nic.GetSubnetwork(), want)
				}

				elsewhere := at(t, w.witness, providers.DefaultCallTimeout)
				if err := elsewhere.Destroy(t.Context(), "r1", []string{belgium}); err != nil {
					t.Errorf("Destroy elsewhere: %v", err)
				}
				if diff := cmp.Diff(before, w.Left()); diff != "" {
					t.Errorf("left (-before +after):\n%s", diff)
				}
			})
		})
	}
}

// TestRulesElsewhere: what is in another project says so.
func TestRulesElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, networks, nil)
		spec := testSpec(oregon)
		spec.Network = sharedNetwork
		if _, err := w.provider.Launch(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string]*Provider{"here": w.provider, "elsewhere": at(t, w.witness, providers.DefaultCallTimeout)} {
			list, err := p.List(t.Context(), "r1", []string{oregon})
			if err != nil || !slices.ContainsFunc(list, func(r providers.Resource) bool {
				return r.ID == "projects/net-host/global/firewalls/antipode-r1-ssh" && r.Kind == providers.FirewallRule
			}) {
				t.Errorf("%s: List = %+v, %v", name, list, err)
			}
		}
	})
}

// TestNoRightsElsewhere: who can't look into the host project can't have made rules there.
func TestNoRightsElsewhere(t *testing.T) {
	for _, denied := range []string{"projects.getXpnHost"} {
		synctest.Test(t, func(t *testing.T) {
			faults := networks
			faults.Calls = []fault.Call{{Call: denied, Kind: fault.Denied}}
			w := openWorld(t, faults, nil)
			if list, err := w.provider.List(t.Context(), "", []string{oregon}); err != nil || len(list) > 0 {
				t.Errorf("List without %s = %v, %v", denied, list, err)
			}
		})
	}
}

// TestNoPlace: a region without the one subnet to take is left out, and told why.
func TestNoPlace(t *testing.T) {
	for wish, says := range map[string]string{
		"half":     "network half has no subnet here",
		"lan":      "network lan has several subnets here (east, west): --network gcp:europe-west1=lan/east takes one",
		"lan/lan":  "network lan has no subnet lan here",
		"missing":  "network missing has no subnet here",
		"lan/no/t": "not of the form",
	} {
		t.Run(wish, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openWorld(t, networks, nil)
				spec := testSpec(belgium)
				spec.Network = wish
				if _, err := w.provider.Launch(t.Context(), spec); err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("Launch = %v, want %q", err, says)
				}
				asked := wanted(DefaultMachineType)
				asked.Networks = map[string]string{belgium: wish, oregon: wish}
				got := providers.Ask(t.Context(), w.provider, asked)
				if worst := providers.Worst(got.Regions[0].Findings); worst.Verdict != providers.VerdictSkip || !strings.Contains(worst.Reason, says) {
					t.Errorf("preflight: %+v, want to skip: %q", got.Regions[0].Findings, says)
				}
				if left := w.Machines.Running(); len(left) > 0 {
					t.Errorf("machines were made: %v", left)
				}
			})
		})
	}
}

// TestPreflightOfNetwork asks for all regions' subnets in one call, and about the
// rights that are needed where the network is.
func TestPreflightOfNetwork(t *testing.T) {
	without := func(call string) door.Faults {
		faults := networks
		faults.Calls = []fault.Call{{Call: call, Kind: fault.Denied}}
		return faults
	}
	for name, tt := range map[string]struct {
		wish    string
		faults  door.Faults
		verdict providers.Verdict
		says    string
	}{
		"auto mode":          {"wide", networks, providers.VerdictGo, ""},
		"needs none made":    {"wide", without("networks.insert"), providers.VerdictGo, ""},
		"needs rules":        {"wide", without("firewalls.insert"), providers.VerdictRefuse, "in project antipode-lab we miss the permissions compute.firewalls.create;"},
		"needs rules there":  {sharedNetwork, without("firewalls.insert"), providers.VerdictRefuse, "in project net-host we miss the permissions compute.firewalls.create;"},
		"shared":             {sharedNetwork, networks, providers.VerdictGo, ""},
		"missing":            {"missing", networks, providers.VerdictRefuse, "there is no network missing in project antipode-lab"},
		"may not look at it": {"wide", without("networks.get"), providers.VerdictRefuse, "compute.networks.get"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openWorld(t, tt.faults, nil)
				lists, heard := 0, w.witness.Heard
				w.witness.Heard = func(c model.Call) {
					heard(c)
					if c.Name == "subnetworks.aggregatedList" {
						lists++
					}
				}
				asked := wanted(DefaultMachineType)
				asked.Networks = map[string]string{belgium: tt.wish, oregon: tt.wish}
				got := providers.Ask(t.Context(), w.provider, asked)
				if worst := providers.Worst(got.Findings); worst.Verdict != tt.verdict || !strings.Contains(worst.Reason, tt.says) {
					t.Errorf("findings %+v, want %s and %q", got.Findings, tt.verdict, tt.says)
				}
				if lists != 1 {
					t.Errorf("subnets were asked for %d times, want once", lists)
				}
			})
		})
	}
}

// TestOneNetwork: a run has one network.
func TestOneNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, networks, nil)
		spec := testSpec(oregon)
		spec.Network = "wide"
		if _, err := w.provider.Launch(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		spec.Region, spec.Network = belgium, "lan/west"
		if _, err := w.provider.Launch(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "one run has one network") {
			t.Errorf("Launch in another network = %v", err)
		}
	})
}

func FuzzParseNetwork(f *testing.F) {
	for _, s := range []string{"lan", "lan/east", sharedNetwork, sharedNetwork + "/net-b", "projects/a:b/global/networks/c", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseNetwork(s)
		if err == nil && (n.Name == "" || strings.Contains(n.Name+n.Subnet, "/") || !strings.HasSuffix(s, n.Name) && n.Subnet == "") {
			t.Errorf("ParseNetwork(%q) = %+v", s, n)
		}
	})
}
