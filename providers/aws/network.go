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
	zone, subnet string
}

// skip is the error of a region that cannot take part, with the way out.
func (r *region) skip(op, format string, args ...any) error {
	return &providers.Error{Op: op, Cloud: Cloud, Region: r.name, Kind: providers.Skip, Err: fmt.Errorf(format, args...)}
}

func (r *region) defaultVPC(ctx context.Context) (string, error) {
	out, err := ask(ctx, r, r.ec2.DescribeVpcs, &ec2.DescribeVpcsInput{
		Filters: []types.Filter{filter("is-default", "true")},
	})
	if err != nil {
		return "", err
	}
	if len(out.Vpcs) == 0 {
		return "", r.skip("DescribeVpcs",
			"no default VPC: `aws ec2 create-default-vpc --region %s` makes one, free of charge", r.name)
	}
	return aws.ToString(out.Vpcs[0].VpcId), nil
}

// places are the default subnets of vpc, by zone.
func (r *region) places(ctx context.Context, vpc string) ([]place, error) {
	out, err := ask(ctx, r, r.ec2.DescribeSubnets, &ec2.DescribeSubnetsInput{
		Filters: []types.Filter{filter("vpc-id", vpc), filter("default-for-az", "true")},
	})
	if err != nil {
		return nil, err
	}
	if len(out.Subnets) == 0 {
		return nil, r.skip("DescribeSubnets", "the default VPC %s has no default subnet", vpc)
	}
	var places []place
	for _, s := range out.Subnets {
		places = append(places, place{aws.ToString(s.AvailabilityZone), aws.ToString(s.SubnetId)})
	}
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.zone, b.zone) })
	return places, nil
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
