package gcp

import (
	"context"
	"hash/fnv"
	"net/netip"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/providers"
)

// ensureSubnet makes the region's part of the run's network, or adopts it.
func (p *Provider) ensureSubnet(ctx context.Context, n network, run providers.Run, region string, ipv6 bool) error {
	name := providers.Name(run.ID)
	wanted := &computepb.Subnetwork{
		Name:        &name,
		Description: new(description(run)),
		Network:     new(n.url()),
		IpCidrRange: new(subnetRange(region).String()),
	}
	speakIPv6(wanted, ipv6)
	err := change(ctx, p, region, "subnetworks.insert", p.subnets.Insert, &computepb.InsertSubnetworkRequest{
		Project: p.project, Region: region, SubnetworkResource: wanted,
	})
	if providers.KindOf(err) != providers.Exists {
		return withoutIPv6(region, ipv6, err)
	}
	subnet, err := ask(ctx, p, region, "subnetworks.get", p.subnets.Get, &computepb.GetSubnetworkRequest{
		Project: p.project, Region: region, Subnetwork: name})
	if err != nil {
		return err
	}
	return p.adopt("subnetworks.insert", "subnet", name, subnet.GetDescription(), run.ID)
}

// subnetRange is the region's share of 10.0.0.0/8, by a hash of its name:
// launches in different regions then need not agree on who takes which.
func subnetRange(region string) netip.Prefix {
	hash := fnv.New32a()
	hash.Write([]byte(region))
	sum := hash.Sum32()
	sum ^= sum >> 16
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(sum >> 8), byte(sum), 0}), 24)
}
