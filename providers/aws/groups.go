package aws

import (
	"context"
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// ensureGroup makes the security group, or adopts it: the API has no token for
// this call, so a repeat after a lost answer finds its own work. made is true
// for a group that is certainly new, without a rule.
func (r *region) ensureGroup(ctx context.Context, run providers.Run, vpc, name string) (id string, made bool, err error) {
	err = r.eventually(ctx, vpc, func(ctx context.Context) error {
		out, err := ask(ctx, r, r.ec2.CreateSecurityGroup, groupInput(run, vpc, name))
		if err == nil {
			id = aws.ToString(out.GroupId)
		}
		return err
	})
	if providers.KindOf(err) != providers.Exists {
		return id, err == nil, err
	}
	id, err = r.findGroup(ctx, run, name)
	return id, false, err
}

func groupInput(run providers.Run, vpc, name string) *ec2.CreateSecurityGroupInput {
	return &ec2.CreateSecurityGroupInput{
		GroupName:         aws.String(name),
		Description:       aws.String("Antipode run " + run.ID),
		VpcId:             aws.String(vpc),
		TagSpecifications: tagged(run, types.ResourceTypeSecurityGroup),
	}
}

// findGroup waits until the API lists the run's group of that name.
func (r *region) findGroup(ctx context.Context, run providers.Run, name string) (id string, err error) {
	err = r.eventually(ctx, "security group "+name, func(ctx context.Context) error {
		out, err := ask(ctx, r, r.ec2.DescribeSecurityGroups, &ec2.DescribeSecurityGroupsInput{
			Filters: []types.Filter{filter("group-name", name)},
		})
		switch {
		case err != nil:
			return err
		case len(out.SecurityGroups) == 0:
			return &providers.Error{Op: "DescribeSecurityGroups", Cloud: Cloud, Region: r.name,
				Kind: providers.NotFound, Err: errNotYet}
		case tag(out.SecurityGroups[0].Tags, providers.TagRun) != run.ID:
			return r.foreign("CreateSecurityGroup", "security group", name, run.ID)
		}
		id = aws.ToString(out.SecurityGroups[0].GroupId)
		return nil
	})
	return id, err
}

// authorize lets rules in. One rule that is there already refuses the whole
// call, so then they go one by one.
func (r *region) authorize(ctx context.Context, group string, rules ...rule) error {
	err := r.eventually(ctx, "security group "+group, func(ctx context.Context) error {
		_, err := ask(ctx, r, r.ec2.AuthorizeSecurityGroupIngress, &ec2.AuthorizeSecurityGroupIngressInput{
			GroupId:       aws.String(group),
			IpPermissions: permissions(rules),
		})
		return err
	})
	if providers.KindOf(err) != providers.Exists {
		return err
	}
	if len(rules) == 1 {
		return nil
	}
	for _, one := range rules {
		if err := r.authorize(ctx, group, one); err != nil {
			return err
		}
	}
	return nil
}

// rule is one rule as the limits of a group count them.
type rule struct {
	protocol string
	port     int
	from     netip.Addr
}

// permissions are rules in the API's form: one per protocol and port.
func permissions(rules []rule) []types.IpPermission {
	type door struct {
		protocol string
		port     int
	}
	at := map[door]int{}
	var list []types.IpPermission
	for _, rl := range rules {
		d := door{rl.protocol, rl.port}
		i, ok := at[d]
		if !ok {
			i, at[d] = len(list), len(list)
			list = append(list, types.IpPermission{IpProtocol: aws.String(rl.protocol),
				FromPort: aws.Int32(int32(rl.port)), ToPort: aws.Int32(int32(rl.port))})
		}
		cidr := aws.String(netip.PrefixFrom(rl.from, rl.from.BitLen()).String())
		if rl.from.Is4() {
			list[i].IpRanges = append(list[i].IpRanges, types.IpRange{CidrIp: cidr})
		} else {
			list[i].Ipv6Ranges = append(list[i].Ipv6Ranges, types.Ipv6Range{CidrIpv6: cidr})
		}
	}
	return list
}

// rules undoes permissions; what we never ask for (wider ranges, other groups)
// is left out.
func rules(list []types.IpPermission) []rule {
	var found []rule
	for _, p := range list {
		var cidrs []string
		for _, r := range p.IpRanges {
			cidrs = append(cidrs, aws.ToString(r.CidrIp))
		}
		for _, r := range p.Ipv6Ranges {
			cidrs = append(cidrs, aws.ToString(r.CidrIpv6))
		}
		for _, cidr := range cidrs {
			if prefix, err := netip.ParsePrefix(cidr); err == nil && prefix.IsSingleIP() {
				found = append(found, rule{aws.ToString(p.IpProtocol), int(aws.ToInt32(p.FromPort)), prefix.Addr()})
			}
		}
	}
	return found
}
