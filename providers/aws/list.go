package aws

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

// regionsAtOnce bounds the calls in flight; each region limits its own rate.
const regionsAtOnce = 40

// alive are the states in which an instance still exists or costs. Terminated
// ones stay visible for about an hour.
var alive = filter("instance-state-name", "pending", "running", "shutting-down", "stopping", "stopped")

// List asks all regions at once for all that a run can have there.
func (p *Provider) List(ctx context.Context, runID string, regions []string) ([]providers.Resource, error) {
	found := make([][]providers.Resource, len(regions))
	errs := make([]error, len(regions))
	var g errgroup.Group
	g.SetLimit(regionsAtOnce)
	for i, name := range regions {
		g.Go(func() error {
			found[i], errs[i] = p.region(name).list(ctx, runID)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs: one region's must not hide another's
	return slices.Concat(found...), errors.Join(errs...)
}

// list returns what it found even if a part of it failed.
func (r *region) list(ctx context.Context, runID string) ([]providers.Resource, error) {
	parts := []func(context.Context, string) ([]providers.Resource, error){
		r.listInstances, r.listDisks, r.listKeys, r.listGroups, r.listPlacements, r.listVPCs, r.listGateways,
	}
	found := make([][]providers.Resource, len(parts))
	errs := make([]error, len(parts))
	var g errgroup.Group
	for i, part := range parts {
		g.Go(func() error {
			found[i], errs[i] = part(ctx, runID)
			return nil
		})
	}
	_ = g.Wait()
	return slices.Concat(found...), errors.Join(errs...)
}

func (r *region) resource(kind string, id *string, tags []types.Tag, state string) providers.Resource {
	return providers.Resource{Cloud: Cloud, Region: r.name, Kind: kind, ID: aws.ToString(id),
		RunID: tag(tags, providers.TagRun), State: state, Expires: expiry(tags)}
}

func (r *region) listInstances(ctx context.Context, runID string) ([]providers.Resource, error) {
	instances, err := r.instances(ctx, ofRun(runID, alive)...)
	var list []providers.Resource
	for _, m := range instances {
		var state string
		if m.State != nil {
			state = string(m.State.Name)
		}
		res := r.resource(providers.Instance, m.InstanceId, m.Tags, state)
		if m.Placement != nil {
			res.Zone = aws.ToString(m.Placement.AvailabilityZone)
		}
		list = append(list, res)
	}
	return list, err
}

func (r *region) instances(ctx context.Context, filters ...types.Filter) ([]types.Instance, error) {
	var list []types.Instance
	err := pages(func(from *string) (*string, error) {
		out, err := ask(ctx, r, r.ec2.DescribeInstances, &ec2.DescribeInstancesInput{Filters: filters, NextToken: from})
		if err != nil {
			return nil, err
		}
		for _, reservation := range out.Reservations {
			list = append(list, reservation.Instances...)
		}
		return out.NextToken, nil
	})
	return list, err
}

func (r *region) listDisks(ctx context.Context, runID string) ([]providers.Resource, error) {
	var list []providers.Resource
	err := pages(func(from *string) (*string, error) {
		out, err := ask(ctx, r, r.ec2.DescribeVolumes, &ec2.DescribeVolumesInput{
			Filters: ofRun(runID), NextToken: from})
		if err != nil {
			return nil, err
		}
		for _, v := range out.Volumes {
			res := r.resource(providers.Disk, v.VolumeId, v.Tags, string(v.State))
			res.Zone = aws.ToString(v.AvailabilityZone)
			list = append(list, res)
		}
		return out.NextToken, nil
	})
	return list, err
}

func (r *region) listKeys(ctx context.Context, runID string) ([]providers.Resource, error) {
	out, err := ask(ctx, r, r.ec2.DescribeKeyPairs, &ec2.DescribeKeyPairsInput{Filters: ofRun(runID)})
	if err != nil {
		return nil, err
	}
	var list []providers.Resource
	for _, k := range out.KeyPairs {
		list = append(list, r.resource(providers.KeyPair, k.KeyName, k.Tags, ""))
	}
	return list, nil
}

func (r *region) listGroups(ctx context.Context, runID string) ([]providers.Resource, error) {
	groups, err := r.groups(ctx, runID)
	var list []providers.Resource
	for _, g := range groups {
		list = append(list, r.resource(providers.SecurityGroup, g.GroupId, g.Tags, ""))
	}
	return list, err
}

func (r *region) groups(ctx context.Context, runID string) ([]types.SecurityGroup, error) {
	var list []types.SecurityGroup
	err := pages(func(from *string) (*string, error) {
		out, err := ask(ctx, r, r.ec2.DescribeSecurityGroups, &ec2.DescribeSecurityGroupsInput{
			Filters: ofRun(runID), NextToken: from})
		if err != nil {
			return nil, err
		}
		list = append(list, out.SecurityGroups...)
		return out.NextToken, nil
	})
	slices.SortFunc(list, func(a, b types.SecurityGroup) int {
		return strings.Compare(aws.ToString(a.GroupName), aws.ToString(b.GroupName))
	})
	return list, err
}

// listPlacements lists what no launch makes as yet.
func (r *region) listPlacements(ctx context.Context, runID string) ([]providers.Resource, error) {
	there := filter("state", string(types.PlacementGroupStatePending), string(types.PlacementGroupStateAvailable), string(types.PlacementGroupStateDeleting))
	out, err := ask(ctx, r, r.ec2.DescribePlacementGroups, &ec2.DescribePlacementGroupsInput{Filters: ofRun(runID, there)})
	if err != nil {
		return nil, err
	}
	var list []providers.Resource
	for _, p := range out.PlacementGroups {
		list = append(list, r.resource(providers.PlacementGroup, p.GroupName, p.Tags, string(p.State)))
	}
	return list, nil
}

// pages asks for page after page until one has no successor.
func pages(ask func(from *string) (next *string, err error)) error {
	for from := (*string)(nil); ; {
		next, err := ask(from)
		if err != nil || aws.ToString(next) == "" {
			return err
		}
		from = next
	}
}
