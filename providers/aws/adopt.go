package aws

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// find looks for the run's machine that an earlier process made, in whatever
// zone had room then: a token is good for its own zone only. One on its way
// out doesn't count, nor one that is to be replaced.
func (r *region) find(ctx context.Context, spec providers.Spec) (*types.Instance, error) {
	living := filter("instance-state-name", "pending", "running")
	machines, err := r.instances(ctx, ofRun(spec.Run.ID, living)...)
	machines = slices.DeleteFunc(machines, func(m types.Instance) bool {
		return spec.Instead != nil && aws.ToString(m.InstanceId) == spec.Instead.ID
	})
	if err != nil || len(machines) == 0 {
		return nil, err
	}
	return &machines[0], nil
}

// adopt takes a machine over as it is.
func (r *region) adopt(ctx context.Context, there types.Instance, m *providers.Machine) error {
	m.Type, m.Image = string(there.InstanceType), aws.ToString(there.ImageId)
	if there.Placement != nil {
		m.Zone = aws.ToString(there.Placement.AvailabilityZone)
	}
	return r.settle(ctx, aws.ToString(there.InstanceId), m)
}

// revokeAllBut takes every rule but one out of a group: the controller has
// moved, and its old address may be somebody else's.
func (r *region) revokeAllBut(ctx context.Context, group string, keep rule) error {
	var stale []rule
	err := r.eventually(ctx, "security group "+group, func(ctx context.Context) error {
		out, err := ask(ctx, r, r.ec2.DescribeSecurityGroups, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{group}})
		if err != nil || len(out.SecurityGroups) == 0 {
			return err
		}
		stale = slices.DeleteFunc(rules(out.SecurityGroups[0].IpPermissions), func(rl rule) bool { return rl == keep })
		return nil
	})
	if err != nil || len(stale) == 0 {
		return err
	}
	_, err = ask(ctx, r, r.ec2.RevokeSecurityGroupIngress, &ec2.RevokeSecurityGroupIngressInput{
		GroupId: aws.String(group), IpPermissions: permissions(stale)})
	if providers.KindOf(err) == providers.NotFound {
		return nil // an answer was lost, or the list lags behind
	}
	return err
}
