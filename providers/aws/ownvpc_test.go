package aws

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/inventory"
	"github.com/antipode-bench/antipode/providers/providertest"
)

// ownVPC is a bad day on which Ireland and Ohio have no default VPC.
func ownVPC(calls ...fault.Call) door.Faults {
	for i := range calls {
		calls[i].Region = ireland
	}
	return door.Faults{NoDefault: []string{ireland, ohio}, Calls: calls}
}

// made counts what somebody has made, by kind.
func (w *world) made() map[string]int {
	count := map[string]int{}
	for _, item := range w.Doors.Inventory().Alive() {
		count[item.Kind]++
	}
	return count
}

// wantOneNetwork: a machine stands in a VPC of which there is one, with so many
// subnets.
func (w *world) wantOneNetwork(t *testing.T, subnets int) {
	t.Helper()
	got := w.made()
	maps.DeleteFunc(got, func(kind string, _ int) bool {
		return !slices.Contains([]string{inventory.Instance, inventory.Network, inventory.Subnetwork, inventory.RouteTable, inventory.InternetGateway}, kind)
	})
	want := map[string]int{inventory.Instance: 1, inventory.Network: 1, inventory.Subnetwork: subnets, inventory.RouteTable: 1, inventory.InternetGateway: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("there is (-want +got):\n%s", diff)
	}
}

// emptied: nothing is left of the run.
func (w *world) emptied(t *testing.T) {
	t.Helper()
	if err := w.provider.Destroy(t.Context(), "r1", []string{ireland}); err != nil {
		t.Errorf("Destroy: %v", err)
	}
	if left := w.Left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestOwnVPC: where the default VPC was deleted a run makes one, with a subnet
// in each zone that it tries, and a machine in it is reached from outside.
func TestOwnVPC(t *testing.T) {
	full := fault.Call{Place: fault.Place{Zone: ireland + "a"}, Call: "RunInstances", Kind: fault.Capacity, Count: 1}
	lost := func(call string, kind fault.Kind, count int) fault.Call {
		return fault.Call{Call: call, Kind: kind, Count: count}
	}
	for name, tt := range map[string]struct {
		faults  door.Faults
		zone    string
		subnets int
	}{
		"fair weather":              {ownVPC(), "a", 1},
		"first zone full":           {ownVPC(full), "b", 2},
		"VPC's answer lost":         {ownVPC(lost("CreateVpc", fault.ResetAfter, 1)), "a", 1},
		"VPC's answers lost":        {ownVPC(lost("CreateVpc", fault.ResetAfter, 0)), "a", 1},
		"VPC unanswered":            {ownVPC(lost("CreateVpc", fault.Silent, 1)), "a", 1},
		"VPC refused for a while":   {ownVPC(lost("CreateVpc", fault.Error500, 3)), "a", 1},
		"VPC throttled":             {ownVPC(lost("CreateVpc", fault.Throttle, 5)), "a", 1},
		"gateway's answer lost":     {ownVPC(lost("CreateInternetGateway", fault.ResetAfter, 1)), "a", 1},
		"attachment's answer lost":  {ownVPC(lost("AttachInternetGateway", fault.ResetAfter, 1)), "a", 1},
		"table's answer lost":       {ownVPC(lost("CreateRouteTable", fault.ResetAfter, 1)), "a", 1},
		"route's answer lost":       {ownVPC(lost("CreateRoute", fault.ResetAfter, 1)), "a", 1},
		"subnet's answer lost":      {ownVPC(lost("CreateSubnet", fault.ResetAfter, 1)), "a", 1},
		"association's answer lost": {ownVPC(lost("AssociateRouteTable", fault.ResetAfter, 1)), "a", 1},
		"VPCs can't be looked up":   {ownVPC(lost("DescribeVpcs", fault.Error500, 3)), "a", 1},
		"gateways can't be looked up": {ownVPC(lost("CreateInternetGateway", fault.ResetAfter, 1),
			lost("DescribeInternetGateways", fault.Error500, 3)), "a", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, spec := openWorld(t, tt.faults, nil), testSpec(t, ireland)
				m, err := w.provider.Launch(t.Context(), spec)
				if err != nil || m.Zone != ireland+tt.zone {
					t.Fatalf("Launch in %s, %v; want zone %s", m.Zone, err, tt.zone)
				}
				w.wantOneNetwork(t, tt.subnets)
				if !w.reaches(m, "tcp", sshPort, spec.SSHFrom) {
					t.Errorf("no way to the machine")
				}
				w.emptied(t)
			})
		})
	}
}

// TestOwnVPCIPv6: a VPC of the run's has a range if its machine needs an address,
// and lets it be reached by that, however the answers are lost.
func TestOwnVPCIPv6(t *testing.T) {
	for name, faults := range map[string]door.Faults{
		"fair weather":          ownVPC(),
		"VPC's answer lost":     ownVPC(fault.Call{Call: "CreateVpc", Kind: fault.ResetAfter, Count: 1}),
		"subnet's answer lost":  ownVPC(fault.Call{Call: "CreateSubnet", Kind: fault.ResetAfter, Count: 1}),
		"routes' answers lost":  ownVPC(fault.Call{Call: "CreateRoute", Kind: fault.ResetAfter, Count: 2}),
		"ranges can't be found": ownVPC(fault.Call{Call: "DescribeSubnets", Kind: fault.Error500, Count: 3}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, spec := openWorld(t, faults, nil), testSpec(t, ireland)
				spec.IPv6 = true
				m, err := w.provider.Launch(t.Context(), spec)
				if err != nil || !m.IPv6.Is6() || !m.Public.Is4() {
					t.Fatalf("Launch = %+v, %v; want addresses of both versions", m, err)
				}
				w.wantOneNetwork(t, 1)
				w.wantRoute6(t)
				spec.Adopt = true
				if again, err := w.provider.Launch(t.Context(), spec); err != nil || again != m {
					t.Errorf("Launch again = %+v, %v; want %+v", again, err, m)
				}
				w.emptied(t)
			})
		})
	}
}

// wantRoute6: of all tables the run's alone leads IPv6 to the internet.
func (w *world) wantRoute6(t *testing.T) {
	t.Helper()
	r := w.provider.region(ireland)
	tables, err := r.ec2.DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{Filters: ofRun("r1")})
	if err != nil || len(tables.RouteTables) != 1 || !slices.ContainsFunc(tables.RouteTables[0].Routes, func(to types.Route) bool {
		return aws.ToString(to.DestinationIpv6CidrBlock) == "::/0" && to.State == types.RouteStateActive
	}) {
		t.Errorf("route tables of the run: %+v, %v; want one with a route for ::/0", tables, err)
	}
}

// TestOwnVPCAgain: another process goes on with what the first one has made, even
// if that died a moment ago and the lists don't show it yet.
func TestOwnVPCAgain(t *testing.T) {
	for calls := 1; calls <= 16; calls++ {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, die := context.WithCancel(t.Context())
				w, spec := openWorld(t, ownVPC(), dyingAfter(calls, die)), testSpec(t, ireland)
				if _, err := w.provider.Launch(ctx, spec); (err != nil) != (ctx.Err() != nil) {
					t.Fatal(err)
				}
				spec.Adopt = true
				m, err := w.provider.Launch(t.Context(), spec)
				if err != nil {
					t.Fatal(err)
				}
				w.wantOneNetwork(t, 1)
				if again, err := w.provider.Launch(t.Context(), spec); err != nil || again != m {
					t.Errorf("Launch again = %+v, %v; want %+v", again, err, m)
				}
				w.emptied(t)
			})
		})
	}
}

// dyingAfter loses the answer to the n-th request that changes something.
func dyingAfter(n int, die func()) providertest.Way {
	return func(next http.RoundTripper) http.RoundTripper { return &dying{next: next, left: int64(n), die: die} }
}

type dying struct {
	next http.RoundTripper
	left int64
	die  func()
}

func (d *dying) RoundTrip(r *http.Request) (*http.Response, error) {
	form, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(form))
	answer, err := d.next.RoundTrip(r)
	if bytes.HasPrefix(form, []byte("Action=")) && !bytes.HasPrefix(form, []byte("Action=Describe")) && atomic.AddInt64(&d.left, -1) == 0 {
		d.die()
		return nil, context.Canceled
	}
	return answer, err
}

// TestOwnVPCStays: what is not the run's stays, and so does the VPC that it is in.
func TestOwnVPCStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		day := ownVPC()
		day.Quotas = []fault.Allowance{{Quota: fault.VPCs, Limit: 20}}
		w := openWorld(t, day, nil)
		if _, err := w.provider.Launch(t.Context(), testSpec(t, ireland)); err != nil {
			t.Fatal(err)
		}
		r, back := w.provider.region(ireland), w.asStranger()
		ours, err := r.vpcs(t.Context(), ofRun("r1")...)
		if err != nil || len(ours) != 1 {
			t.Fatalf("%v, %v", ours, err)
		}
		others := map[string]bool{}
		for _, tags := range strangers {
			others[strangerVPC(t, r, tags)] = true
		}
		guest, err := r.ec2.CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: ours[0].VpcId, CidrBlock: aws.String("10.0.0.240/28")})
		if err != nil {
			t.Fatal(err)
		}
		others[*guest.Subnet.SubnetId], others[*ours[0].VpcId] = true, true
		time.Sleep(time.Minute)
		back()
		if err := w.provider.Destroy(t.Context(), "r1", []string{ireland}); err == nil || !strings.Contains(err.Error(), *ours[0].VpcId) {
			t.Errorf("Destroy = %v, want one that names the VPC", err)
		}
		for _, item := range w.Doors.Inventory().Alive() {
			if !others[item.ID] {
				t.Errorf("left: %s %s %v", item.Kind, item.ID, item.Tags)
			}
			delete(others, item.ID)
		}
		for id := range others {
			t.Errorf("%s is gone", id)
		}
	})
}

func strangerVPC(t *testing.T, r *region, tags map[string]string) string {
	t.Helper()
	in := &ec2.CreateVpcInput{CidrBlock: aws.String(ownRange)}
	for k, v := range tags {
		if in.TagSpecifications == nil {
			in.TagSpecifications = []types.TagSpecification{{ResourceType: types.ResourceTypeVpc}}
		}
		in.TagSpecifications[0].Tags = append(in.TagSpecifications[0].Tags, types.Tag{Key: &k, Value: &v})
	}
	out, err := r.ec2.CreateVpc(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return *out.Vpc.VpcId
}

// TestOwnVPCConformance: all that a provider promises of what it makes holds
// without a default VPC. Lists are hardly late: each wait for one is a dozen
// requests more to be cut off at.
func TestOwnVPCConformance(t *testing.T) {
	c := suite()
	c.LastCut = 48
	c.Open = func(t *testing.T, way providertest.Way) providertest.World {
		return openLate(t, ownVPC(), way, door.Range{Min: 100 * time.Millisecond, Max: 200 * time.Millisecond}).forSuite()
	}
	c.Exempt = map[string]string{"LaunchIPv6": "no region is without it: TestOwnVPCIPv6"}
	for _, name := range []string{"Silent", "ClosedEndpoint", "LaunchBadSpec", "LaunchUnknownRegion", "LaunchSpot", "Admit", "SSH", "DestroyNeedsRun", "DestroyUnknown"} {
		c.Exempt[name] = "the same in every VPC"
	}
	providertest.Run(t, c)
}

func TestPlots(t *testing.T) {
	seen := map[string]string{}
	for letter := 'a'; letter <= 'p'; letter++ {
		zone := ireland + string(letter)
		p, ok := plot(ireland, zone)
		if other := seen[p.String()]; !ok || other != "" || p != p.Masked() {
			t.Errorf("plot of %s = %v, %t; %q has it", zone, p, ok, other)
		}
		seen[p.String()] = zone
	}
	offered := map[string][]string{"t3.nano": {"us-west-2b", "us-west-2a", "us-west-2-lax-1a", "us-west-2"}, "t4g.nano": {"us-west-2a", "us-west-2z"}}
	if diff := cmp.Diff([]place{{zone: "us-west-2a", ipv6: true}, {zone: "us-west-2b", ipv6: true}}, plots("us-west-2", offered), cmp.AllowUnexported(place{})); diff != "" {
		t.Error(diff)
	}
}
