package ec2_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
)

// ownNetwork is a VPC that leads to the internet, and what that takes.
type ownNetwork struct{ vpc, subnet, gateway, table, group string }

// makeNetwork makes a VPC in Ireland, as far as steps go: its gateway, the
// attachment, its table, the route, its subnet, the association.
func (l *lab) makeNetwork(steps int) (n ownNetwork) {
	l.t.Helper()
	client, ctx := l.ec2(ireland), l.t.Context()
	do := func(err error) {
		l.t.Helper()
		if err != nil {
			l.t.Fatal(err)
		}
	}
	vpc, err := client.CreateVpc(ctx, &awsec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/24")})
	do(err)
	n.vpc = *vpc.Vpc.VpcId
	for _, step := range []func() error{
		func() error {
			out, err := client.CreateInternetGateway(ctx, &awsec2.CreateInternetGatewayInput{})
			n.gateway = *out.InternetGateway.InternetGatewayId
			return err
		},
		func() error {
			_, err := client.AttachInternetGateway(ctx, &awsec2.AttachInternetGatewayInput{InternetGatewayId: &n.gateway, VpcId: &n.vpc})
			return err
		},
		func() error {
			out, err := client.CreateRouteTable(ctx, &awsec2.CreateRouteTableInput{VpcId: &n.vpc, ClientToken: aws.String("t")})
			n.table = *out.RouteTable.RouteTableId
			return err
		},
		func() error { return l.route(n) },
		func() error {
			out, err := client.CreateSubnet(ctx, &awsec2.CreateSubnetInput{VpcId: &n.vpc, CidrBlock: aws.String("10.0.0.16/28"),
				AvailabilityZone: aws.String("eu-west-1b")})
			n.subnet = *out.Subnet.SubnetId
			return err
		},
		func() error { return l.associate(n) },
	}[:steps] {
		do(step())
		l.settle()
	}
	return n
}

func (l *lab) route(n ownNetwork) error {
	_, err := l.ec2(ireland).CreateRoute(l.t.Context(), &awsec2.CreateRouteInput{
		RouteTableId: &n.table, GatewayId: &n.gateway, DestinationCidrBlock: aws.String("0.0.0.0/0")})
	return err
}

func (l *lab) associate(n ownNetwork) error {
	_, err := l.ec2(ireland).AssociateRouteTable(l.t.Context(), &awsec2.AssociateRouteTableInput{RouteTableId: &n.table, SubnetId: &n.subnet})
	return err
}

func (l *lab) detach(n ownNetwork) error {
	_, err := l.ec2(ireland).DetachInternetGateway(l.t.Context(), &awsec2.DetachInternetGatewayInput{InternetGatewayId: &n.gateway, VpcId: &n.vpc})
	return err
}

// runIn launches a machine in the subnet that anybody may reach on port 22.
func (l *lab) runIn(n *ownNetwork) string {
	l.t.Helper()
	out, err := l.ec2(ireland).CreateSecurityGroup(l.t.Context(), &awsec2.CreateSecurityGroupInput{
		GroupName: aws.String("g"), Description: aws.String("a test"), VpcId: &n.vpc})
	if err != nil {
		l.t.Fatal(err)
	}
	n.group = *out.GroupId
	l.settle()
	if err := l.authorize(n.group, permit("tcp", 22, 22, "0.0.0.0/0")); err != nil {
		l.t.Fatal(err)
	}
	id := l.run(ireland, func(in *awsec2.RunInstancesInput) {
		in.NetworkInterfaces = []types.InstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), SubnetId: &n.subnet,
			Groups: []string{n.group}, AssociatePublicIpAddress: aws.Bool(true)}}
	})
	synctest.Wait()
	return id
}

func (l *lab) reachable(id string) bool {
	m, ok := l.machines.Machine(id)
	return ok && len(m.Rules) > 0
}

// TestNoWayNoPacket: a machine is reached only once its subnet leads to the
// internet, whatever its groups let in.
func TestNoWayNoPacket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		n := l.makeNetwork(5) // not associated
		id := l.runIn(&n)
		if l.reachable(id) {
			t.Errorf("reachable without a route to the internet")
		}
		if err := l.associate(n); err != nil || !l.reachable(id) {
			t.Errorf("associated: %v, reachable %v", err, l.reachable(id))
		}
		l.terminate(ireland, id)
		synctest.Wait()
	})
}

// TestNetworkEndsInOrder: what is used by something can't be deleted.
func TestNetworkEndsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		n := l.makeNetwork(6)
		id := l.runIn(&n)
		ends := []struct {
			what string
			end  func() error
		}{
			{"group", func() error { return l.deleteGroup(n.group) }},
			{"subnet", func() error { return l.deleteWhole(&awsec2.DeleteSubnetInput{SubnetId: &n.subnet}) }},
			{"table", func() error { return l.deleteWhole(&awsec2.DeleteRouteTableInput{RouteTableId: &n.table}) }},
			{"attachment", func() error { return l.detach(n) }},
			{"gateway", func() error {
				return l.deleteWhole(&awsec2.DeleteInternetGatewayInput{InternetGatewayId: &n.gateway})
			}},
			{"VPC", func() error { return l.deleteWhole(&awsec2.DeleteVpcInput{VpcId: &n.vpc}) }},
		}
		for _, e := range ends {
			t.Log(e.what)
			wantCode(t, e.end(), "DependencyViolation")
		}
		l.terminate(ireland, id)
		synctest.Wait()
		for _, e := range ends {
			if err := e.end(); err != nil {
				t.Errorf("%s: %v", e.what, err)
			}
		}
		if left := l.door.Inventory().Alive(); len(left) > 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

// deleteWhole deletes a part of a network.
func (l *lab) deleteWhole(in any) (err error) {
	client, ctx := l.ec2(ireland), l.t.Context()
	switch in := in.(type) {
	case *awsec2.DeleteSubnetInput:
		_, err = client.DeleteSubnet(ctx, in)
	case *awsec2.DeleteRouteTableInput:
		_, err = client.DeleteRouteTable(ctx, in)
	case *awsec2.DeleteInternetGatewayInput:
		_, err = client.DeleteInternetGateway(ctx, in)
	case *awsec2.DeleteVpcInput:
		_, err = client.DeleteVpc(ctx, in)
	}
	return err
}

func TestNetworkErrors(t *testing.T) {
	l := open(t, fault.Faults{NoDefault: []string{ireland}}, rack.Timing{})
	n := l.makeNetwork(6)
	client, ctx := l.ec2(ireland), t.Context()
	subnet := func(vpc, cidr, zone string) error {
		_, err := client.CreateSubnet(ctx, &awsec2.CreateSubnetInput{VpcId: &vpc, CidrBlock: &cidr, AvailabilityZone: &zone})
		return err
	}
	attach := func(gateway string) error {
		_, err := client.AttachInternetGateway(ctx, &awsec2.AttachInternetGatewayInput{InternetGatewayId: &gateway, VpcId: &n.vpc})
		return err
	}
	second, err := client.CreateInternetGateway(ctx, &awsec2.CreateInternetGatewayInput{})
	if err != nil {
		t.Fatal(err)
	}
	_, vpcErr := client.CreateVpc(ctx, &awsec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/29")})
	_, groupErr := client.CreateSecurityGroup(ctx, &awsec2.CreateSecurityGroupInput{GroupName: aws.String("g"), Description: aws.String("x")})
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"SmallVPC":       {vpcErr, "InvalidVpc.Range"},
		"NoDefault":      {groupErr, "VPCIdNotSpecified"},
		"SubnetNoVPC":    {subnet("vpc-0123456789abcdef0", "10.0.0.0/28", "eu-west-1a"), "InvalidVpcID.NotFound"},
		"SubnetOutside":  {subnet(n.vpc, "10.0.1.0/28", "eu-west-1a"), "InvalidSubnet.Range"},
		"SubnetTwice":    {subnet(n.vpc, "10.0.0.16/28", "eu-west-1a"), "InvalidSubnet.Conflict"},
		"SubnetZone":     {subnet(n.vpc, "10.0.0.32/28", "us-east-2a"), "InvalidParameterValue"},
		"AttachTwice":    {attach(n.gateway), "Resource.AlreadyAssociated"},
		"AttachSecond":   {attach(*second.InternetGateway.InternetGatewayId), "InvalidParameterValue"},
		"RouteTwice":     {l.route(n), "RouteAlreadyExists"},
		"RouteNowhere":   {l.route(ownNetwork{table: n.table, gateway: "igw-0123456789abcdef0"}), "InvalidGatewayID.NotFound"},
		"RouteElsewhere": {l.route(ownNetwork{table: n.table, gateway: *second.InternetGateway.InternetGatewayId}), "InvalidParameterValue"},
		"AssociateTwice": {l.associate(n), "Resource.AlreadyAssociated"},
		"NoSuchTable":    {l.associate(ownNetwork{table: "rtb-0123456789abcdef0", subnet: n.subnet}), "InvalidRouteTableID.NotFound"},
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, c.err, c.code) })
	}
}

// TestTableToken: the same token, the same table.
func TestTableToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{})
		n := l.makeNetwork(3)
		again, err := l.ec2(ireland).CreateRouteTable(t.Context(), &awsec2.CreateRouteTableInput{VpcId: &n.vpc, ClientToken: aws.String("t")})
		if err != nil || *again.RouteTable.RouteTableId != n.table {
			t.Errorf("CreateRouteTable again = %+v, %v; want %s", again, err, n.table)
		}
		out, err := l.ec2(ireland).DescribeRouteTables(t.Context(), &awsec2.DescribeRouteTablesInput{
			Filters: []types.Filter{{Name: aws.String("vpc-id"), Values: []string{n.vpc}}}})
		if err != nil || len(out.RouteTables) != 2 {
			t.Errorf("%+v, %v; want the main table and ours", out, err)
		}
	})
}

func TestVPCQuota(t *testing.T) {
	l := open(t, fault.Faults{Quotas: []fault.Allowance{{Quota: fault.VPCs, Limit: 2}}}, rack.Timing{})
	l.makeNetwork(0)
	_, err := l.ec2(ireland).CreateVpc(t.Context(), &awsec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/24")})
	wantCode(t, err, "VpcLimitExceeded")
	out, err := servicequotas.NewFromConfig(l.config(ireland)).GetServiceQuota(t.Context(), &servicequotas.GetServiceQuotaInput{
		ServiceCode: aws.String("vpc"), QuotaCode: aws.String(fault.VPCs)})
	if err != nil || *out.Quota.Value != 2 || !strings.Contains(*out.Quota.QuotaName, "VPC") {
		t.Errorf("quota %+v, %v", out, err)
	}
}

func TestPlacementGroups(t *testing.T) {
	l := open(t, fault.Faults{}, rack.Timing{})
	client, ctx := l.ec2(ireland), t.Context()
	in := &awsec2.CreatePlacementGroupInput{GroupName: aws.String("p"), Strategy: types.PlacementStrategyCluster,
		TagSpecifications: []types.TagSpecification{tagged(types.ResourceTypePlacementGroup, "antipode-run", "r1")}}
	if _, err := client.CreatePlacementGroup(ctx, in); err != nil {
		t.Fatal(err)
	}
	_, err := client.CreatePlacementGroup(ctx, in)
	wantCode(t, err, "InvalidPlacementGroup.Duplicate")
	out, err := client.DescribePlacementGroups(ctx, &awsec2.DescribePlacementGroupsInput{
		Filters: []types.Filter{{Name: aws.String("tag:antipode-run"), Values: []string{"r1"}}}})
	if err != nil || !slices.ContainsFunc(out.PlacementGroups, func(p types.PlacementGroup) bool { return *p.GroupName == "p" }) {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := client.DeletePlacementGroup(ctx, &awsec2.DeletePlacementGroupInput{GroupName: aws.String("p")}); err != nil {
		t.Error(err)
	}
	_, err = client.DeletePlacementGroup(ctx, &awsec2.DeletePlacementGroupInput{GroupName: aws.String("p")})
	wantCode(t, err, "InvalidPlacementGroup.Unknown")
}
