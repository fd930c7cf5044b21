package aws

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// ownRange is that of every VPC of ours. They are not connected to anything, so
// that it may be in use elsewhere.
const ownRange = "10.0.0.0/24"

// vpcs lists a region's VPCs, always in the same order.
func (r *region) vpcs(ctx context.Context, filters ...types.Filter) (list []types.Vpc, err error) {
	err = pages(func(from *string) (*string, error) {
		out, err := ask(ctx, r, r.ec2.DescribeVpcs, &ec2.DescribeVpcsInput{Filters: filters, NextToken: from})
		if err != nil {
			return nil, err
		}
		list = append(list, out.Vpcs...)
		return out.NextToken, nil
	})
	slices.SortFunc(list, func(a, b types.Vpc) int { return strings.Compare(aws.ToString(a.VpcId), aws.ToString(b.VpcId)) })
	return list, err
}

// makeVPC makes a VPC for the run. It takes no token, and each process of a run
// may have lost the answer of its last call: then there is one already.
func (r *region) makeVPC(ctx context.Context, spec providers.Spec) (network, error) {
	id, found, err := r.once(ctx, "CreateVpc", spec.Adopt,
		func(ctx context.Context) (string, error) {
			out, err := r.ec2.CreateVpc(ctx, vpcInput(spec.Run, spec.IPv6))
			if err != nil {
				return "", err
			}
			return aws.ToString(out.Vpc.VpcId), nil
		},
		func(ctx context.Context) (string, error) {
			ours, err := r.vpcs(ctx, ofRun(spec.Run.ID)...)
			if err != nil || len(ours) == 0 {
				return "", err
			}
			return aws.ToString(ours[0].VpcId), nil
		})
	return network{vpc: id, own: true, fresh: !found}, err
}

// vpcInput asks for a range of IPv6 as well, of Amazon's own, if one is needed.
func vpcInput(run providers.Run, ipv6 bool) *ec2.CreateVpcInput {
	in := &ec2.CreateVpcInput{CidrBlock: aws.String(ownRange), TagSpecifications: tagged(run, types.ResourceTypeVpc)}
	if ipv6 {
		in.AmazonProvidedIpv6CidrBlock = aws.Bool(true)
	}
	return in
}
