package aws

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

// wayOut leads a VPC of the run's to the internet, and returns the route table
// that its subnets need for that. What is there already is adopted.
func (r *region) wayOut(ctx context.Context, spec providers.Spec, n network) (table string, err error) {
	var gateway string
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { gateway, err = r.gateway(gctx, spec.Run, n); return err })
	g.Go(func() (err error) { table, err = r.routeTable(gctx, spec.Run, n.vpc); return err })
	if err := g.Wait(); err != nil {
		return "", err
	}
	route := ec2.CreateRouteInput{RouteTableId: aws.String(table), GatewayId: aws.String(gateway), DestinationCidrBlock: aws.String("0.0.0.0/0")}
	if err := r.route(ctx, route, n.vpc); err != nil || !spec.IPv6 {
		return table, err
	}
	route.DestinationCidrBlock, route.DestinationIpv6CidrBlock = nil, aws.String("::/0")
	return table, r.route(ctx, route, n.vpc)
}

// route leads a destination to the gateway of a VPC.
func (r *region) route(ctx context.Context, in ec2.CreateRouteInput, vpc string) error {
	return existsIsFine(r.eventually(ctx, "gateway and route table of "+vpc, func(ctx context.Context) error {
		_, err := ask(ctx, r, r.ec2.CreateRoute, &in)
		return err
	}))
}

// gateway makes the internet gateway of a VPC of the run's.
func (r *region) gateway(ctx context.Context, run providers.Run, n network) (string, error) {
	id, _, err := r.once(ctx, "CreateInternetGateway", !n.fresh,
		func(ctx context.Context) (string, error) {
			out, err := r.ec2.CreateInternetGateway(ctx, gatewayInput(run))
			if err != nil {
				return "", err
			}
			return aws.ToString(out.InternetGateway.InternetGatewayId), nil
		},
		func(ctx context.Context) (string, error) {
			all, err := r.gateways(ctx, run.ID)
			return gatewayFor(n.vpc, all), err
		})
	if err != nil {
		return "", err
	}
	err = r.eventually(ctx, "gateway "+id+" and "+n.vpc, func(ctx context.Context) error {
		_, err := ask(ctx, r, r.ec2.AttachInternetGateway, &ec2.AttachInternetGatewayInput{
			InternetGatewayId: aws.String(id), VpcId: aws.String(n.vpc)})
		return err
	})
	return id, existsIsFine(err)
}

func gatewayInput(run providers.Run) *ec2.CreateInternetGatewayInput {
	return &ec2.CreateInternetGatewayInput{TagSpecifications: tagged(run, types.ResourceTypeInternetGateway)}
}

// gatewayFor chooses the gateway that is attached to the VPC, or else one that is
// attached to none.
func gatewayFor(vpc string, all []types.InternetGateway) (id string) {
	for _, g := range all {
		switch {
		case len(g.Attachments) == 0:
			id = aws.ToString(g.InternetGatewayId)
		case aws.ToString(g.Attachments[0].VpcId) == vpc:
			return aws.ToString(g.InternetGatewayId)
		}
	}
	return id
}

// routeTable makes the one of a VPC of the run's, with a token, so that a repeat
// gives the same.
func (r *region) routeTable(ctx context.Context, run providers.Run, vpc string) (id string, err error) {
	err = r.eventually(ctx, vpc, func(ctx context.Context) error {
		out, err := ask(ctx, r, r.ec2.CreateRouteTable, &ec2.CreateRouteTableInput{
			VpcId: aws.String(vpc), ClientToken: aws.String(tokenOf(fmt.Appendf(nil, "%s\n%s\n%s", run.ID, r.name, vpc))),
			TagSpecifications: tagged(run, types.ResourceTypeRouteTable)})
		if err == nil {
			id = aws.ToString(out.RouteTable.RouteTableId)
		}
		return err
	})
	return id, err
}
