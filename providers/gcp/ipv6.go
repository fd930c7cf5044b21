package gcp

import (
	"errors"
	"fmt"
	"net/netip"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/providers"
)

const (
	dualStack = "IPV4_IPV6" // of subnets and interfaces with both versions of IP
	external  = "EXTERNAL"  // IPv6 addresses that the world reaches
)

// speakIPv6 gives a subnet to be made external IPv6 addresses too, if they are
// wanted.
func speakIPv6(s *computepb.Subnetwork, wanted bool) {
	if wanted {
		s.StackType, s.Ipv6AccessType = new(dualStack), new(external)
	}
}

// stackOf is the state of a subnet that somebody else made, as far as machines
// care: whether it gives external IPv6 addresses.
func stackOf(s *computepb.Subnetwork) string {
	if s.GetStackType() == dualStack {
		return s.GetIpv6AccessType()
	}
	return ""
}

// speaks says whether a machine can have in it what it wants.
func speaks(subnet providers.Resource, ipv6 bool) error {
	if !ipv6 || subnet.State == external {
		return nil
	}
	return barred(subnet.Region, "subnetworks.aggregatedList", "subnet %s has no external IPv6: `gcloud compute networks subnets update %[1]s --region %s "+
		"--stack-type=IPV4_IPV6 --ipv6-access-type=EXTERNAL` gives it some, unless its network is in auto mode", subnet.ID, subnet.Region)
}

// askIPv6 gives an interface to be made such an address. Only the premium tier
// has them: https://cloud.google.com/network-tiers/docs/overview
func askIPv6(nic *computepb.NetworkInterface, wanted bool) {
	if wanted {
		nic.StackType = new(dualStack)
		nic.Ipv6AccessConfigs = []*computepb.AccessConfig{{
			Name: new("external-ipv6"), Type: new("DIRECT_IPV6"), NetworkTier: new("PREMIUM"),
		}}
	}
}

// withoutIPv6 is the error of a subnet that can't be made: a region that has no
// external IPv6 is not for a run that measures over it.
func withoutIPv6(region string, wanted bool, err error) error {
	if err == nil || !wanted || providers.KindOf(err) != providers.Unknown {
		return err
	}
	if e, ok := errors.AsType[*providers.Error](err); ok {
		err = e.Err // the rest is said anew
	}
	return barred(region, "subnetworks.insert", "no subnet with external IPv6 can be made: %w", err)
}

// ipv6Of is the instance's address: the first of its range. It is not valid
// if there is none.
func ipv6Of(i *computepb.Instance) (addr netip.Addr, err error) {
	for _, nic := range i.GetNetworkInterfaces() {
		ranges := nic.GetIpv6AccessConfigs()
		if len(ranges) == 0 {
			continue
		}
		if addr, err = netip.ParseAddr(ranges[0].GetExternalIpv6()); err != nil {
			err = fmt.Errorf("IPv6 address of %s: %w", i.GetName(), err)
		}
		return addr, err
	}
	return addr, nil
}
