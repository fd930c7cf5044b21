package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// place is where in a region a machine can stand.
type place struct {
	zone   string
	subnet string // empty: to be made, in a VPC of the run's own
	ipv6   bool   // the subnet has a range, or is made with one
}

// skip is the error of a region that cannot take part, with the way out.
func (r *region) skip(op, format string, args ...any) error {
	return &providers.Error{Op: op, Cloud: Cloud, Region: r.name, Kind: providers.Skip, Err: fmt.Errorf(format, args...)}
}

// network is the VPC that a machine stands in.
type network struct {
	vpc   string
	own   bool // the run's own: all that is in it is the run's too
	fresh bool // made just now: nothing is in it
}

// network is where the machine will stand: in the VPC, or with the subnet, that
// is wished for, or else in one of the region's, or in one that is made.
func (r *region) network(ctx context.Context, spec providers.Spec) (network, error) {
	if spec.Network != "" {
		vpc, err := r.named(ctx, spec.Network)
		return network{vpc: vpc}, err
	}
	all, err := r.vpcs(ctx)
	if err != nil {
		return network{}, err
	}
	if n := among(all, spec.Run.ID); n.vpc != "" {
		return n, nil
	}
	return r.makeVPC(ctx, spec)
}

// among chooses the run's own one of a region's VPCs, or else the default one.
// Where neither is there (the default one can be deleted), vpc is empty.
func among(all []types.Vpc, runID string) network {
	var n network
	for _, v := range all {
		switch {
		case tag(v.Tags, providers.TagRun) == runID && tag(v.Tags, providers.TagExpires) != "":
			return network{vpc: aws.ToString(v.VpcId), own: true}
		case aws.ToBool(v.IsDefault):
			n.vpc = aws.ToString(v.VpcId)
		}
	}
	return n
}

// named is the VPC that is wished for, or that of a subnet.
func (r *region) named(ctx context.Context, wish string) (vpc string, err error) {
	if strings.HasPrefix(wish, "vpc-") {
		return wish, nil
	}
	subnets, err := r.subnets(ctx, filter("subnet-id", wish))
	if err != nil {
		return "", err
	}
	if len(subnets) == 0 {
		return "", r.skip("DescribeSubnets", "there is no subnet %s here", wish)
	}
	return aws.ToString(subnets[0].VpcId), nil
}

func (r *region) subnets(ctx context.Context, filters ...types.Filter) (list []types.Subnet, err error) {
	err = pages(func(from *string) (*string, error) {
		out, err := ask(ctx, r, r.ec2.DescribeSubnets, &ec2.DescribeSubnetsInput{Filters: filters, NextToken: from})
		if err != nil {
			return nil, err
		}
		list = append(list, out.Subnets...)
		return out.NextToken, nil
	})
	return list, err
}

// places are the default subnets of the default VPC, or those of the network
// that is wished for: one in each zone.
func (r *region) places(ctx context.Context, vpc, wish string) ([]place, error) {
	which := filter("vpc-id", vpc)
	switch {
	case wish == "":
		which = filter("default-for-az", "true")
	case wish != vpc:
		which = filter("subnet-id", wish)
	}
	subnets, err := r.subnets(ctx, filter("vpc-id", vpc), which)
	if err != nil {
		return nil, err
	}
	if len(subnets) == 0 && wish == "" {
		return nil, r.skip("DescribeSubnets", "the default VPC %s has no default subnet", vpc)
	}
	if len(subnets) == 0 {
		return nil, r.skip("DescribeSubnets", "there is no subnet of %s here", wish)
	}
	var places []place
	for _, s := range subnets {
		places = append(places, place{zone: aws.ToString(s.AvailabilityZone), subnet: aws.ToString(s.SubnetId), ipv6: hasIPv6(s)})
	}
	slices.SortStableFunc(places, byZone)
	return slices.CompactFunc(places, func(a, b place) bool { return a.zone == b.zone }), nil
}

// byZone orders places; of one zone, those with IPv6 come first.
func byZone(a, b place) int {
	c := strings.Compare(a.zone, b.zone)
	switch {
	case c != 0 || a.ipv6 == b.ipv6:
		return c
	case a.ipv6:
		return -1
	}
	return 1
}

// importKey gives the region the run's public key, or adopts it.
func (r *region) importKey(ctx context.Context, spec providers.Spec) error {
	name := providers.Name(spec.Run.ID)
	_, err := ask(ctx, r, r.ec2.ImportKeyPair, &ec2.ImportKeyPairInput{
		KeyName:           aws.String(name),
		PublicKeyMaterial: []byte(spec.AuthorizedKey),
		TagSpecifications: tagged(spec.Run, types.ResourceTypeKeyPair),
	})
	if providers.KindOf(err) != providers.Exists {
		return err
	}
	return r.eventually(ctx, "key pair "+name, func(ctx context.Context) error {
		out, err := ask(ctx, r, r.ec2.DescribeKeyPairs, &ec2.DescribeKeyPairsInput{KeyNames: []string{name}})
		if err != nil {
			return err
		}
		if len(out.KeyPairs) != 1 || tag(out.KeyPairs[0].Tags, providers.TagRun) != spec.Run.ID {
			return r.foreign("ImportKeyPair", "key pair", name, spec.Run.ID)
		}
		return nil
	})
}

// foreign is the error of a name that is taken by something that is not ours.
func (r *region) foreign(op, kind, name, runID string) error {
	return &providers.Error{Op: op, Cloud: Cloud, Region: r.name, Kind: providers.Unknown,
		Err: fmt.Errorf("%s %s exists without the tag %s=%s: not ours, left alone", kind, name, providers.TagRun, runID)}
}
