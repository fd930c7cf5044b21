package gce_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/protobuf/proto"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

// TestIPv6 gives it to Belgium: there a subnetwork may be of both kinds, and its
// machines have addresses if they ask.
func TestIPv6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, brisk())
		l.door.GiveIPv6("europe-west1")
		l.createNetwork("net", false)
		subnetworks := client(l, compute.NewSubnetworksRESTClient)
		insert := func(region, access string) (*compute.Operation, error) {
			return subnetworks.Insert(t.Context(), &computepb.InsertSubnetworkRequest{Project: project, Region: region,
				SubnetworkResource: &computepb.Subnetwork{Name: proto.String("sub"), Network: proto.String("global/networks/net"),
					IpCidrRange: proto.String("10.1.0.0/24"), StackType: proto.String("IPV4_IPV6"), Ipv6AccessType: &access}})
		}
		for region, access := range map[string]string{"us-west1": "EXTERNAL", "europe-west1": "INTERNAL"} {
			_, err := insert(region, access)
			wantFailure(t, err, http.StatusBadRequest, "invalid")
		}
		l.done(insert("europe-west1", "EXTERNAL"))
		dual := func(i *computepb.Instance) {
			nic := i.NetworkInterfaces[0]
			nic.StackType = proto.String("IPV4_IPV6")
			nic.Ipv6AccessConfigs = []*computepb.AccessConfig{{Type: proto.String("DIRECT_IPV6"), Name: proto.String("six"), NetworkTier: proto.String("PREMIUM")}}
		}
		_, err := l.insert(belgium, spec("m1", belgium, dual)) // in the default network
		wantFailure(t, err, http.StatusBadRequest, "invalid")
		l.create(belgium, spec("m1", belgium, func(i *computepb.Instance) {
			dual(i)
			i.NetworkInterfaces[0].Network, i.NetworkInterfaces[0].Subnetwork = nil, proto.String("regions/europe-west1/subnetworks/sub")
		}))
		m, err := l.get(belgium, "m1")
		if err != nil {
			t.Fatal(err)
		}
		got := m.GetNetworkInterfaces()[0]
		access := got.GetIpv6AccessConfigs()
		if len(access) != 1 || access[0].GetExternalIpv6() != "2001:2::1" || access[0].GetExternalIpv6PrefixLength() != 96 || got.GetIpv6AccessType() != "EXTERNAL" {
			t.Errorf("interface %v", got)
		}
		l.delete(belgium, "m1")
	})
}
