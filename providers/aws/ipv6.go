package aws

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// speaking leaves of places those where a machine can have an IPv6 address, if
// it needs one. No VPC has any until its owner asks for a range.
func (r *region) speaking(places []place, ipv6 bool) ([]place, error) {
	if !ipv6 || len(places) == 0 {
		return places, nil
	}
	some := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return !p.ipv6 })
	if len(some) == 0 {
		return nil, r.skip("DescribeSubnets", "no subnet has an IPv6 range: give the VPC (aws ec2 associate-vpc-cidr-block) and its subnets one, "+
			"and ::/0 a route to the internet gateway, or name another network (--network)")
	}
	return some, nil
}

// hasIPv6 says whether a subnet has addresses of IPv6 to give.
func hasIPv6(s types.Subnet) bool {
	return slices.ContainsFunc(s.Ipv6CidrBlockAssociationSet, func(a types.SubnetIpv6CidrBlockAssociation) bool {
		return a.Ipv6CidrBlockState != nil && a.Ipv6CidrBlockState.State == types.SubnetCidrBlockStateCodeAssociated
	})
}

// ipv6Count is how many addresses of IPv6 a machine asks for.
func ipv6Count(spec providers.Spec) *int32 {
	if !spec.IPv6 {
		return nil
	}
	return aws.Int32(1)
}

// ipv6Of is the machine's address; not valid if it has none.
func ipv6Of(m types.Instance) (addr netip.Addr, err error) {
	if text := aws.ToString(m.Ipv6Address); text != "" {
		if addr, err = netip.ParseAddr(text); err != nil {
			err = fmt.Errorf("IPv6 address of %s: %w", aws.ToString(m.InstanceId), err)
		}
	}
	return addr, err
}
