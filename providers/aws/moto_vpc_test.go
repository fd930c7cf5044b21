//go:build unix

package aws

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func (r motoRun) String() string {
	if r.ownVPC {
		return r.regions[0] + " without default VPC"
	}
	return r.regions[0]
}

// deleteDefaultVPC does what many an account's owner does on the first day.
func (w motoWorld) deleteDefaultVPC(t *testing.T, r *region) {
	t.Helper()
	ctx := t.Context()
	subnets, err := r.subnets(ctx)
	for _, s := range subnets {
		_, derr := r.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: s.SubnetId})
		err = errors.Join(err, derr)
	}
	vpcs, verr := r.vpcs(ctx)
	for _, v := range vpcs {
		_, derr := r.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: v.VpcId})
		err = errors.Join(err, derr)
	}
	if err := errors.Join(err, verr); err != nil {
		t.Fatal(err)
	}
}

// networksIn adds what is in a region beside the default VPC and what VPCs come
// with.
func (w motoWorld) networksIn(t *testing.T, r *region, add func(what string, id *string, tags []types.Tag)) {
	ctx := context.Background()
	vpcs, err := r.vpcs(ctx)
	subnets, err2 := r.subnets(ctx, filter("default-for-az", "false"))
	gateways, err3 := r.ec2.DescribeInternetGateways(ctx, &ec2.DescribeInternetGatewaysInput{})
	tables, err4 := r.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{})
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Errorf("networks of %s: %v", r.name, err)
		return
	}
	for _, v := range vpcs {
		if !aws.ToBool(v.IsDefault) {
			add("VPC", v.VpcId, v.Tags)
		}
	}
	for _, s := range subnets {
		add("subnet", s.SubnetId, s.Tags)
	}
	for _, g := range gateways.InternetGateways {
		add("gateway", g.InternetGatewayId, g.Tags)
	}
	for _, rt := range tables.RouteTables {
		if len(rt.Associations) == 0 || !aws.ToBool(rt.Associations[0].Main) {
			add("route table", rt.RouteTableId, rt.Tags)
		}
	}
}
