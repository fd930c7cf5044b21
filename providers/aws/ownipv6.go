package aws

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// rangeIPv6 waits for the range that a VPC of the run's was made with: it belongs
// to the VPC only a while after that is there.
func (r *region) rangeIPv6(ctx context.Context, vpc string) (whole netip.Prefix, err error) {
	err = providers.Poll(ctx, consistencyLimit, providers.AtOnce(providers.Steady()), "the IPv6 range of "+vpc, func(ctx context.Context) (bool, error) {
		found, err := r.vpcs(ctx, filter("vpc-id", vpc))
		if err != nil {
			return false, err
		}
		for _, v := range found {
			for _, a := range v.Ipv6CidrBlockAssociationSet {
				if a.Ipv6CidrBlockState == nil || a.Ipv6CidrBlockState.State != types.VpcCidrBlockStateCodeAssociated {
					continue
				}
				if whole, err = netip.ParsePrefix(aws.ToString(a.Ipv6CidrBlock)); err != nil {
					err = fmt.Errorf("IPv6 range of %s: %w", vpc, err)
				}
				return err == nil, err
			}
		}
		return false, nil
	})
	return whole, err
}

// plot6 is the part of a VPC's range, of 256, that is for the subnet of a zone.
func plot6(whole netip.Prefix, zone string) netip.Prefix {
	const subnetBits = 64 // of every subnet
	at := whole.Addr().As16()
	at[subnetBits/8-1] = zone[len(zone)-1] - 'a'
	return netip.PrefixFrom(netip.AddrFrom16(at), subnetBits)
}

// awaitIPv6 waits until machines can have addresses of a subnet's range.
func (r *region) awaitIPv6(ctx context.Context, subnet string) error {
	return providers.Poll(ctx, consistencyLimit, providers.AtOnce(providers.Steady()), "the IPv6 range of "+subnet, func(ctx context.Context) (bool, error) {
		found, err := r.subnets(ctx, filter("subnet-id", subnet))
		return err == nil && len(found) == 1 && hasIPv6(found[0]), err
	})
}
