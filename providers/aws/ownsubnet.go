package aws

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// plotBits is the size of a subnet of ours, the smallest that there is: 16
// addresses, of which AWS keeps five. The range of a VPC has 16 of them.
const plotBits = 28

// plot is the range of a zone's subnet, always the same one, so that a second
// subnet of a zone is refused. It has none for local zones, whose names are not
// the region's and a letter: they are no part of the region.
func plot(region, zone string) (netip.Prefix, bool) {
	letter, ok := strings.CutPrefix(zone, region)
	if !ok || len(letter) != 1 || letter < "a" || letter > "p" {
		return netip.Prefix{}, false
	}
	at := netip.MustParsePrefix(ownRange).Addr().As4()
	at[3] = (letter[0] - 'a') << (32 - plotBits)
	return netip.PrefixFrom(netip.AddrFrom4(at), plotBits), true
}

// plots are the places in a VPC of the run's: the zones that offer something.
// Their subnets are made when their turn comes.
func plots(region string, offered map[string][]string) []place {
	var places []place
	for _, zones := range offered {
		for _, zone := range zones {
			if _, ok := plot(region, zone); ok {
				places = append(places, place{zone: zone, ipv6: true})
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.zone, b.zone) })
	return slices.Compact(places)
}

// subnetIn makes the subnet of a zone in a VPC of the run's, or adopts it, and
// leads it to the internet.
func (r *region) subnetIn(ctx context.Context, spec providers.Spec, s site, zone string) (string, error) {
	id, err := r.makeSubnet(ctx, spec, s.vpc, zone)
	if err != nil {
		return "", err
	}
	if spec.IPv6 {
		if err := r.awaitIPv6(ctx, id); err != nil {
			return "", err
		}
	}
	err = r.eventually(ctx, "subnet "+id, func(ctx context.Context) error {
		_, err := ask(ctx, r, r.ec2.AssociateRouteTable, &ec2.AssociateRouteTableInput{
			RouteTableId: aws.String(s.table), SubnetId: aws.String(id)})
		return err
	})
	return id, existsIsFine(err)
}

func (r *region) makeSubnet(ctx context.Context, spec providers.Spec, vpc, zone string) (id string, err error) {
	part, ok := plot(r.name, zone)
	if !ok {
		return "", fmt.Errorf("no range for a subnet in %s", zone)
	}
	in := &ec2.CreateSubnetInput{VpcId: aws.String(vpc), CidrBlock: aws.String(part.String()),
		AvailabilityZone: aws.String(zone), TagSpecifications: tagged(spec.Run, types.ResourceTypeSubnet)}
	if spec.IPv6 {
		whole, err := r.rangeIPv6(ctx, vpc)
		if err != nil {
			return "", err
		}
		in.Ipv6CidrBlock = aws.String(plot6(whole, zone).String())
	}
	err = r.eventually(ctx, vpc, func(ctx context.Context) error {
		out, err := ask(ctx, r, r.ec2.CreateSubnet, in)
		if err == nil {
			id = aws.ToString(out.Subnet.SubnetId)
		}
		return err
	})
	if providers.KindOf(err) != providers.Exists {
		return id, err
	}
	return r.findSubnet(ctx, vpc, part)
}

// findSubnet waits until the API lists the subnet with a range.
func (r *region) findSubnet(ctx context.Context, vpc string, part netip.Prefix) (id string, err error) {
	err = r.eventually(ctx, "subnet "+part.String(), func(ctx context.Context) error {
		found, err := r.subnets(ctx, filter("vpc-id", vpc), filter("cidr-block", part.String()))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return &providers.Error{Op: "DescribeSubnets", Cloud: Cloud, Region: r.name, Kind: providers.NotFound, Err: errNotYet}
		}
		id = aws.ToString(found[0].SubnetId)
		return nil
	})
	return id, err
}
