package aws

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

// listVPCs lists the run's VPCs and what is in them. Most regions have none, and
// are asked nothing more then.
func (r *region) listVPCs(ctx context.Context, runID string) ([]providers.Resource, error) {
	vpcs, err := r.vpcs(ctx, ofRun(runID)...)
	if len(vpcs) == 0 {
		return nil, err
	}
	var list, inside, tables []providers.Resource
	for _, v := range vpcs {
		list = append(list, r.resource(providers.Network, v.VpcId, v.Tags, string(v.State)))
	}
	var errInside, errTables error
	var g errgroup.Group
	g.Go(func() error { inside, errInside = r.listSubnets(ctx, runID); return nil })
	g.Go(func() error { tables, errTables = r.listTables(ctx, runID); return nil })
	_ = g.Wait() // one's error must not hide what the other found
	list = append(append(list, inside...), tables...)
	return list, errors.Join(err, errInside, errTables)
}

func (r *region) listSubnets(ctx context.Context, runID string) ([]providers.Resource, error) {
	subnets, err := r.subnets(ctx, ofRun(runID)...)
	var list []providers.Resource
	for _, s := range subnets {
		res := r.resource(providers.Subnet, s.SubnetId, s.Tags, string(s.State))
		res.Zone = aws.ToString(s.AvailabilityZone)
		list = append(list, res)
	}
	return list, err
}

func (r *region) listTables(ctx context.Context, runID string) ([]providers.Resource, error) {
	tables, err := r.tables(ctx, ofRun(runID)...)
	var list []providers.Resource
	for _, t := range tables {
		list = append(list, r.resource(providers.RouteTable, t.RouteTableId, t.Tags, ""))
	}
	return list, err
}

func (r *region) tables(ctx context.Context, filters ...types.Filter) (list []types.RouteTable, err error) {
	err = pages(func(from *string) (*string, error) {
		out, err := ask(ctx, r, r.ec2.DescribeRouteTables, &ec2.DescribeRouteTablesInput{Filters: filters, NextToken: from})
		if err != nil {
			return nil, err
		}
		list = append(list, out.RouteTables...)
		return out.NextToken, nil
	})
	return list, err
}

func (r *region) listGateways(ctx context.Context, runID string) ([]providers.Resource, error) {
	gateways, err := r.gateways(ctx, runID)
	var list []providers.Resource
	for _, g := range gateways {
		list = append(list, r.resource(providers.InternetGateway, g.InternetGatewayId, g.Tags, ""))
	}
	return list, err
}

func (r *region) gateways(ctx context.Context, runID string) ([]types.InternetGateway, error) {
	var list []types.InternetGateway
	err := pages(func(from *string) (*string, error) {
		out, err := ask(ctx, r, r.ec2.DescribeInternetGateways, &ec2.DescribeInternetGatewaysInput{Filters: ofRun(runID), NextToken: from})
		if err != nil {
			return nil, err
		}
		list = append(list, out.InternetGateways...)
		return out.NextToken, nil
	})
	return list, err
}
