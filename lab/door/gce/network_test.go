package gce_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"
	"google.golang.org/protobuf/proto"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/vm"
)

func newZoneOperations(ctx context.Context, o ...option.ClientOption) (*compute.ZoneOperationsClient, error) {
	return compute.NewZoneOperationsRESTClient(ctx, o...)
}

func refuse(vm.Spec) error { return errors.New("no") }

func (l *lab) createNetwork(name string, auto bool) {
	l.t.Helper()
	l.done(l.networks().Insert(l.t.Context(), &computepb.InsertNetworkRequest{
		Project: project, NetworkResource: &computepb.Network{Name: &name, AutoCreateSubnetworks: &auto},
	}))
}

func (l *lab) insertFirewall(f *computepb.Firewall) (*compute.Operation, error) {
	return l.firewalls().Insert(l.t.Context(), &computepb.InsertFirewallRequest{Project: project, FirewallResource: f})
}

func (l *lab) deleteNetwork(name string) (*compute.Operation, error) {
	return l.networks().Delete(l.t.Context(), &computepb.DeleteNetworkRequest{Project: project, Network: name})
}

func firewall(name, network string) *computepb.Firewall {
	return &computepb.Firewall{
		Name: &name, Network: proto.String("global/networks/" + network),
		SourceRanges: []string{"198.18.0.9/32"}, TargetTags: []string{"antipode-r1"},
		Allowed: []*computepb.Allowed{{IPProtocol: proto.String("tcp"), Ports: []string{"22"}}},
	}
}

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

func TestFirewallReachesMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.createNetwork("net", true)
		in := func(tags ...string) func(*computepb.Instance) {
			return func(i *computepb.Instance) {
				i.NetworkInterfaces[0].Network = proto.String("global/networks/net")
				i.Tags = &computepb.Tags{Items: tags}
			}
		}
		l.create(belgium, spec("m1", belgium, in("antipode-r1")))
		id := l.machines.Running()[0]
		l.create(belgium, spec("untagged", belgium, in()))
		rules := func(id string) []vm.Rule {
			m, _ := l.machines.Machine(id)
			return m.Rules
		}
		if got := rules(id); len(got) != 0 {
			t.Errorf("rules before any firewall = %v, want none", got)
		}
		l.done(l.insertFirewall(firewall("ssh", "net")))
		want := []vm.Rule{{Protocol: "tcp", FromPort: 22, ToPort: 22, Sources: prefixes("198.18.0.9/32")}}
		if diff := cmp.Diff(want, rules(id), cmp.Comparer(samePrefix)); diff != "" {
			t.Errorf("rules (-want +got):\n%s", diff)
		}
		for _, other := range l.machines.Running() {
			if got := rules(other); other != id && len(got) != 0 {
				t.Errorf("rules of the untagged machine = %v, want none", got)
			}
		}
		l.done(l.firewalls().Patch(t.Context(), &computepb.PatchFirewallRequest{
			Project: project, Firewall: "ssh", FirewallResource: &computepb.Firewall{Name: proto.String("ssh"), SourceRanges: []string{"198.18.0.0/30", "198.18.0.9"}},
		}))
		want[0].Sources = prefixes("198.18.0.0/30", "198.18.0.9/32")
		if diff := cmp.Diff(want, rules(id), cmp.Comparer(samePrefix)); diff != "" {
			t.Errorf("rules after the patch (-want +got):\n%s", diff)
		}
		l.done(l.firewalls().Delete(t.Context(), &computepb.DeleteFirewallRequest{Project: project, Firewall: "ssh"}))
		if got := rules(id); len(got) != 0 {
			t.Errorf("rules after the delete = %v, want none", got)
		}
	})
}

func samePrefix(a, b netip.Prefix) bool { return a == b }

func TestNetworkStaysWhileUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.createNetwork("net", true)
		l.done(l.insertFirewall(firewall("ssh", "net")))
		l.create(belgium, spec("m1", belgium, func(i *computepb.Instance) {
			i.NetworkInterfaces[0].Network = proto.String("global/networks/net")
		}))
		_, err := l.deleteNetwork("net")
		wantFailure(t, err, http.StatusBadRequest, "resourceInUseByAnotherResource")
		l.delete(belgium, "m1")
		_, err = l.deleteNetwork("net")
		wantFailure(t, err, http.StatusBadRequest, "resourceInUseByAnotherResource")
		l.done(l.firewalls().Delete(t.Context(), &computepb.DeleteFirewallRequest{Project: project, Firewall: "ssh"}))
		l.done(l.deleteNetwork("net"))
		_, err = l.deleteNetwork("net")
		wantFailure(t, err, http.StatusNotFound, "notFound")
		if left := l.door.Inventory(); len(left) > 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

func TestCustomNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.createNetwork("net", false)
		_, err := l.insert(belgium, spec("m1", belgium, func(i *computepb.Instance) {
			i.NetworkInterfaces[0].Network = proto.String("global/networks/net")
		}))
		wantFailure(t, err, http.StatusBadRequest, "invalid")
		subnetworks := client(l, compute.NewSubnetworksRESTClient)
		l.done(subnetworks.Insert(t.Context(), &computepb.InsertSubnetworkRequest{
			Project: project, Region: "europe-west1",
			SubnetworkResource: &computepb.Subnetwork{Name: proto.String("sub"), Network: proto.String("global/networks/net"), IpCidrRange: proto.String("10.1.0.0/24")},
		}))
		l.create(belgium, spec("m1", belgium, func(i *computepb.Instance) {
			i.NetworkInterfaces[0].Network = nil
			i.NetworkInterfaces[0].Subnetwork = proto.String("regions/europe-west1/subnetworks/sub")
		}))
		remove := func() (*compute.Operation, error) {
			return subnetworks.Delete(t.Context(), &computepb.DeleteSubnetworkRequest{Project: project, Region: "europe-west1", Subnetwork: "sub"})
		}
		_, err = remove()
		wantFailure(t, err, http.StatusBadRequest, "resourceInUseByAnotherResource")
		l.delete(belgium, "m1")
		_, err = l.deleteNetwork("net")
		wantFailure(t, err, http.StatusBadRequest, "resourceInUseByAnotherResource")
		l.done(remove())
		l.done(l.deleteNetwork("net"))
	})
}

func TestFirewallRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		for name, edit := range map[string]func(*computepb.Firewall){
			"Source":   func(f *computepb.Firewall) { f.SourceRanges = []string{"198.18.0.9/16"} },
			"Families": func(f *computepb.Firewall) { f.SourceRanges = []string{"198.18.0.9/32", "2001:db8::/64"} },
			"TooMany": func(f *computepb.Firewall) {
				f.SourceRanges = nil
				for i := range 257 {
					f.SourceRanges = append(f.SourceRanges, fmt.Sprintf("198.18.%d.%d/32", i/256, i%256))
				}
			},
			"Ports":    func(f *computepb.Firewall) { f.Allowed[0].Ports = []string{"22-21"} },
			"Protocol": func(f *computepb.Firewall) { f.Allowed[0].IPProtocol = proto.String("esp") },
			"Egress":   func(f *computepb.Firewall) { f.Direction = proto.String("EGRESS") },
			"Tag":      func(f *computepb.Firewall) { f.TargetTags = []string{"Bad_Tag"} },
		} {
			f := firewall("ssh", "default")
			edit(f)
			t.Log(name)
			_, err := l.insertFirewall(f)
			wantFailure(t, err, http.StatusBadRequest, "invalid")
		}
		l.createNetwork("net", true)
		f := firewall("ssh", "net")
		if _, err := l.insertFirewall(f); err != nil {
			t.Fatal(err)
		}
		_, err := l.insertFirewall(f)
		wantFailure(t, err, http.StatusConflict, "alreadyExists")
	})
}

func TestUsingANewNetworkTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		op, err := l.networks().Insert(t.Context(), &computepb.InsertNetworkRequest{
			Project: project, NetworkResource: &computepb.Network{Name: proto.String("net"), AutoCreateSubnetworks: proto.Bool(true)},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.insertFirewall(firewall("ssh", "net"))
		wantFailure(t, err, http.StatusBadRequest, "resourceNotReady")
		l.done(op, nil)
		l.done(l.insertFirewall(firewall("ssh", "net")))
	})
}

func TestDisksStayWithoutAutoDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.create(belgium, spec("m1", belgium, func(i *computepb.Instance) { i.Disks[0].AutoDelete = nil }))
		remove := func() (*compute.Operation, error) {
			return l.disks().Delete(t.Context(), &computepb.DeleteDiskRequest{Project: project, Zone: belgium, Disk: "m1"})
		}
		_, err := remove()
		wantFailure(t, err, http.StatusBadRequest, "resourceInUseByAnotherResource")
		l.delete(belgium, "m1")
		disk, err := l.disks().Get(t.Context(), &computepb.GetDiskRequest{Project: project, Zone: belgium, Disk: "m1"})
		if err != nil || disk.GetLabels()["antipode-run"] != "r1" {
			t.Errorf("disk = %v, %v; want it left with its label", disk, err)
		}
		l.done(remove())
	})
}

func TestCatalog(t *testing.T) {
	l := open(t, fault.Faults{}, brisk())
	ctx := t.Context()
	img, err := client(l, compute.NewImagesRESTClient).GetFromFamily(ctx, &computepb.GetFromFamilyImageRequest{Project: "debian-cloud", Family: "debian-12"})
	if err != nil || img.GetArchitecture() != "X86_64" {
		t.Errorf("image = %v, %v", img, err)
	}
	_, err = client(l, compute.NewImagesRESTClient).GetFromFamily(ctx, &computepb.GetFromFamilyImageRequest{Project: "debian-cloud", Family: "debian-7"})
	wantFailure(t, err, http.StatusNotFound, "notFound")
	kind, err := client(l, compute.NewMachineTypesRESTClient).Get(ctx, &computepb.GetMachineTypeRequest{Project: project, Zone: belgium, MachineType: "e2-small"})
	if err != nil || kind.GetGuestCpus() != 2 {
		t.Errorf("machine type = %v, %v", kind, err)
	}
	region, err := client(l, compute.NewRegionsRESTClient).Get(ctx, &computepb.GetRegionRequest{Project: project, Region: "europe-west1"})
	if err != nil || len(region.GetZones()) != 3 || len(region.GetQuotas()) == 0 {
		t.Errorf("region = %v, %v", region, err)
	}
	var zones []string
	for z, err := range client(l, compute.NewZonesRESTClient).List(ctx, &computepb.ListZonesRequest{Project: project, Filter: proto.String("status=UP")}).All() {
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, z.GetName())
	}
	if diff := cmp.Diff([]string{"europe-west1-b", "europe-west1-c", "europe-west1-d", "us-west1-a", "us-west1-b", "us-west1-c"}, zones); diff != "" {
		t.Errorf("zones (-want +got):\n%s", diff)
	}
	_, err = client(l, compute.NewProjectsRESTClient).Get(ctx, &computepb.GetProjectRequest{Project: project})
	if err != nil {
		t.Error(err)
	}
	_, err = client(l, compute.NewProjectsRESTClient).Get(ctx, &computepb.GetProjectRequest{Project: "another"})
	wantFailure(t, err, http.StatusNotFound, "notFound")
}
