package aws

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// leadsOut6 looks whether some subnet that can give an IPv6 address also leads
// IPv6 to the internet: a range comes without a route, and a machine that nobody
// reaches would cost as much as one that somebody does. Who may not look does
// without.
func (s *survey) leadsOut6(ctx context.Context, vpc string, places []place) error {
	places = slices.DeleteFunc(slices.Clone(places), func(p place) bool { return !p.ipv6 })
	if !s.wanted.IPv6 || len(places) == 0 {
		return nil
	}
	tables, err := s.tables(ctx, filter("vpc-id", vpc))
	if unasked(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(places, func(p place) bool { return routes6(tableOf(tables, p.subnet)) }) {
		return nil
	}
	return s.skip("DescribeRouteTables", "no route table of a subnet with IPv6 has a route for ::/0: "+
		"give it one to the internet gateway (aws ec2 create-route), or name another network (--network)")
}

// tableOf is the route table of a subnet: its own, or else its VPC's main one.
func tableOf(tables []types.RouteTable, subnet string) (table types.RouteTable) {
	for _, t := range tables {
		for _, a := range t.Associations {
			switch {
			case aws.ToString(a.SubnetId) == subnet:
				return t
			case aws.ToBool(a.Main):
				table = t
			}
		}
	}
	return table
}

func routes6(t types.RouteTable) bool {
	return slices.ContainsFunc(t.Routes, func(r types.Route) bool {
		return aws.ToString(r.DestinationIpv6CidrBlock) == "::/0" && r.State == types.RouteStateActive
	})
}
