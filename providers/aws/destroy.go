package aws

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

// teardownLimit is for one region; EC2 takes about a minute to terminate.
const teardownLimit = 10 * time.Minute

// Destroy empties all regions at once.
func (p *Provider) Destroy(ctx context.Context, runID string, regions []string) error {
	if err := providers.CheckRunID(runID); err != nil {
		return providers.Wrap(Cloud, "", "Destroy", err)
	}
	errs := make([]error, len(regions))
	var g errgroup.Group
	g.SetLimit(regionsAtOnce)
	for i, name := range regions {
		g.Go(func() error {
			errs[i] = p.region(name).destroy(ctx, runID)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs: one region's must not stop another
	return errors.Join(errs...)
}

func (r *region) destroy(ctx context.Context, runID string) error {
	err := providers.Drain(ctx, teardownLimit, r.doubts.Settled(runID),
		func(ctx context.Context) ([]providers.Resource, error) { return r.list(ctx, runID) }, r.remove)
	return providers.Wrap(Cloud, r.name, "Destroy", err)
}

// remove asks for the end of all that can end now: machines and keys first, and
// once no machine holds it the rest.
func (r *region) remove(ctx context.Context, left []providers.Resource) error {
	var errs []error
	var ids []string
	machines := 0
	for _, res := range left {
		switch res.Kind {
		case providers.Instance:
			machines++
			if res.State != "shutting-down" {
				ids = append(ids, res.ID)
			}
		case providers.KeyPair:
			_, err := ask(ctx, r, r.ec2.DeleteKeyPair, &ec2.DeleteKeyPairInput{KeyName: aws.String(res.ID)})
			errs = append(errs, err)
		}
	}
	errs = append(errs, r.terminate(ctx, ids))
	if machines == 0 {
		errs = append(errs, r.removeHeld(ctx, left))
	}
	return notFoundIsFine(errs)
}

// terminate ends machines. One unknown id refuses the whole call, so then they
// go one by one, and the unknown are gone already.
func (r *region) terminate(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := ask(ctx, r, r.ec2.TerminateInstances, &ec2.TerminateInstancesInput{InstanceIds: ids})
	if providers.KindOf(err) != providers.NotFound || len(ids) == 1 {
		return err
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, r.terminate(ctx, []string{id}))
	}
	return notFoundIsFine(errs)
}

// held are the kinds of what machines hold, in the order in which it can go: each
// keeps those after it from being deleted.
var held = []string{providers.SecurityGroup, providers.Disk, providers.PlacementGroup,
	providers.Subnet, providers.RouteTable, providers.InternetGateway, providers.Network}

func (r *region) removeHeld(ctx context.Context, left []providers.Resource) error {
	var errs []error
	for _, kind := range held {
		for _, res := range left {
			if res.Kind == kind {
				errs = append(errs, r.removeOne(ctx, res, left))
			}
		}
	}
	return notFoundIsFine(errs)
}

func (r *region) removeOne(ctx context.Context, res providers.Resource, left []providers.Resource) (err error) {
	switch id := aws.String(res.ID); res.Kind {
	case providers.SecurityGroup:
		_, err = ask(ctx, r, r.ec2.DeleteSecurityGroup, &ec2.DeleteSecurityGroupInput{GroupId: id})
	case providers.Disk:
		_, err = ask(ctx, r, r.ec2.DeleteVolume, &ec2.DeleteVolumeInput{VolumeId: id})
	case providers.PlacementGroup:
		_, err = ask(ctx, r, r.ec2.DeletePlacementGroup, &ec2.DeletePlacementGroupInput{GroupName: id})
	case providers.Subnet:
		_, err = ask(ctx, r, r.ec2.DeleteSubnet, &ec2.DeleteSubnetInput{SubnetId: id})
	case providers.RouteTable:
		_, err = ask(ctx, r, r.ec2.DeleteRouteTable, &ec2.DeleteRouteTableInput{RouteTableId: id})
	case providers.InternetGateway:
		err = r.removeGateway(ctx, id, left)
	case providers.Network:
		_, err = ask(ctx, r, r.ec2.DeleteVpc, &ec2.DeleteVpcInput{VpcId: id})
	}
	return err
}

// removeGateway detaches the gateway from the run's VPC, if that is the one it is
// attached to, and deletes it.
func (r *region) removeGateway(ctx context.Context, gateway *string, left []providers.Resource) error {
	var errs []error
	for _, res := range left {
		if res.Kind == providers.Network {
			_, err := ask(ctx, r, r.ec2.DetachInternetGateway, &ec2.DetachInternetGatewayInput{
				InternetGatewayId: gateway, VpcId: aws.String(res.ID)})
			errs = append(errs, err)
		}
	}
	_, err := ask(ctx, r, r.ec2.DeleteInternetGateway, &ec2.DeleteInternetGatewayInput{InternetGatewayId: gateway})
	return notFoundIsFine(append(errs, err))
}

// notFoundIsFine joins errors of deletes, less those of what was gone before.
func notFoundIsFine(errs []error) error {
	var serious []error
	for _, err := range errs {
		if providers.KindOf(err) != providers.NotFound {
			serious = append(serious, err)
		}
	}
	return errors.Join(serious...)
}
