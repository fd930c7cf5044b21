package ec2_test

import (
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
)

func askIPv6(in *awsec2.RunInstancesInput) {
	in.NetworkInterfaces = []types.InstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), Ipv6AddressCount: aws.Int32(1)}}
}

// TestIPv6 gives it to Ireland: there, who asks gets an address.
func TestIPv6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		l.door.GiveIPv6(ireland)
		l.door.GiveIPv6("nowhere")
		with, without := l.run(ireland, askIPv6), l.run(ireland, nil)
		synctest.Wait()
		for id, want := range map[string]bool{with: true, without: false} {
			out, err := l.ec2(ireland).DescribeInstances(t.Context(), &awsec2.DescribeInstancesInput{InstanceIds: []string{id}})
			if err != nil {
				t.Fatal(err)
			}
			i := out.Reservations[0].Instances[0]
			address, _ := netip.ParseAddr(aws.ToString(i.Ipv6Address))
			m, _ := l.machines.Machine(id)
			if address != m.Addresses.IPv6 || address.Is6() != want || len(i.NetworkInterfaces[0].Ipv6Addresses) > 0 != want {
				t.Errorf("%s has the address %v, its machine %v", id, address, m.Addresses.IPv6)
			}
		}
		_, err := l.ec2(ohio).RunInstances(t.Context(), l.runInput(ohio, askIPv6))
		wantCode(t, err, "InvalidParameterValue")
		l.terminate(ireland, with)
		l.terminate(ireland, without)
		synctest.Wait()
	})
}

// TestIPv6Ranges: every subnet of the VPC has a part of its range, and a way
// out.
func TestIPv6Ranges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{})
		l.door.GiveIPv6(ireland)
		client, ctx := l.ec2(ireland), t.Context()
		vpcs, err := client.DescribeVpcs(ctx, &awsec2.DescribeVpcsInput{})
		if err != nil {
			t.Fatal(err)
		}
		whole := netip.MustParsePrefix(*vpcs.Vpcs[0].Ipv6CidrBlockAssociationSet[0].Ipv6CidrBlock)
		subnets, err := client.DescribeSubnets(ctx, &awsec2.DescribeSubnetsInput{})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[netip.Prefix]bool{}
		for _, s := range subnets.Subnets {
			part := netip.MustParsePrefix(*s.Ipv6CidrBlockAssociationSet[0].Ipv6CidrBlock)
			if !whole.Contains(part.Addr()) || part.Bits() != 64 || seen[part] {
				t.Errorf("%s has %v of %v", *s.SubnetId, part, whole)
			}
			seen[part] = true
		}
		tables, err := client.DescribeRouteTables(ctx, &awsec2.DescribeRouteTablesInput{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tables.RouteTables[0].Routes, func(r types.Route) bool {
			return aws.ToString(r.DestinationIpv6CidrBlock) == "::/0" && r.DestinationCidrBlock == nil
		}) {
			t.Errorf("routes %+v", tables.RouteTables[0].Routes)
		}
	})
}

// TestIPv6OfNewVPC: a range belongs to a VPC, and to a subnet, only some time
// after these are there.
func TestIPv6OfNewVPC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{})
		client, ctx := l.ec2(ireland), t.Context()
		plain, err := client.CreateVpc(ctx, &awsec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/24")})
		if err != nil || len(plain.Vpc.Ipv6CidrBlockAssociationSet) > 0 {
			t.Fatalf("a VPC without IPv6: %+v, %v", plain, err)
		}
		made, err := client.CreateVpc(ctx, &awsec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/24"), AmazonProvidedIpv6CidrBlock: aws.Bool(true)})
		if err != nil {
			t.Fatal(err)
		}
		whole := made.Vpc.Ipv6CidrBlockAssociationSet[0]
		if whole.Ipv6CidrBlockState.State != types.VpcCidrBlockStateCodeAssociating {
			t.Errorf("the range of a new VPC is %s", whole.Ipv6CidrBlockState.State)
		}
		part := netip.PrefixFrom(netip.MustParsePrefix(*whole.Ipv6CidrBlock).Addr(), 64).String()
		subnet := func(vpc, cidr, cidr6 string) error {
			_, err := client.CreateSubnet(ctx, &awsec2.CreateSubnetInput{VpcId: &vpc, CidrBlock: &cidr, Ipv6CidrBlock: &cidr6})
			return err
		}
		wantCode(t, subnet(*made.Vpc.VpcId, "10.0.0.0/28", part), "InvalidSubnet.Range") // too early
		time.Sleep(time.Second)
		wantCode(t, subnet(*plain.Vpc.VpcId, "10.0.0.0/28", part), "InvalidSubnet.Range")
		wantCode(t, subnet(*made.Vpc.VpcId, "10.0.0.0/28", "2001:db8::/64"), "InvalidSubnet.Range")
		if err := subnet(*made.Vpc.VpcId, "10.0.0.0/28", part); err != nil {
			t.Fatal(err)
		}
		wantCode(t, subnet(*made.Vpc.VpcId, "10.0.0.16/28", part), "InvalidSubnet.Conflict")
	})
}
