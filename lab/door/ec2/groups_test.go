package ec2_test

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm"
)

func permit(protocol string, from, to int32, cidrs ...string) types.IpPermission {
	p := types.IpPermission{IpProtocol: &protocol, FromPort: &from, ToPort: &to}
	for _, c := range cidrs {
		p.IpRanges = append(p.IpRanges, types.IpRange{CidrIp: aws.String(c)})
	}
	return p
}

func (l *lab) authorize(group string, p ...types.IpPermission) error {
	_, err := l.ec2(ireland).AuthorizeSecurityGroupIngress(l.t.Context(), &awsec2.AuthorizeSecurityGroupIngressInput{GroupId: &group, IpPermissions: p})
	return err
}

func (l *lab) revoke(group string, p ...types.IpPermission) error {
	_, err := l.ec2(ireland).RevokeSecurityGroupIngress(l.t.Context(), &awsec2.RevokeSecurityGroupIngressInput{GroupId: &group, IpPermissions: p})
	return err
}

func (l *lab) deleteGroup(id string) error {
	_, err := l.ec2(ireland).DeleteSecurityGroup(l.t.Context(), &awsec2.DeleteSecurityGroupInput{GroupId: &id})
	return err
}

func TestRulesReachMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		ssh, probes := l.createGroup(ireland, "ssh"), l.createGroup(ireland, "probes")
		id := l.run(ireland, func(in *awsec2.RunInstancesInput) { in.SecurityGroupIds = []string{ssh, probes} })
		synctest.Wait()
		rules := func() []vm.Rule {
			m, _ := l.machines.Machine(id)
			return m.Rules
		}
		if got := rules(); got == nil || len(got) > 0 {
			t.Errorf("rules of empty groups = %v, want none, but set", got)
		}
		for _, err := range []error{
			l.authorize(ssh, permit("tcp", 22, 22, "198.18.0.9/32")),
			l.authorize(probes, permit("tcp", 8462, 8462, "198.18.0.1/32", "198.18.0.2/32"), permit("17", 8462, 8462, "198.18.0.1/32")),
			l.authorize(probes, permit("-1", -1, -1, "198.19.0.1/16")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		want := []vm.Rule{
			rule("tcp", 22, "198.18.0.9/32"), rule("tcp", 8462, "198.18.0.1/32"), rule("tcp", 8462, "198.18.0.2/32"),
			rule("udp", 8462, "198.18.0.1/32"), rule("all", 0, "198.19.0.0/16"),
		}
		if diff := cmp.Diff(want, rules(), cmp.Comparer(samePrefix)); diff != "" {
			t.Errorf("rules (-want +got):\n%s", diff)
		}
		if err := l.revoke(probes, permit("tcp", 8462, 8462, "198.18.0.1/32"), permit("-1", 0, 0, "198.19.0.0/16")); err != nil {
			t.Fatal(err)
		}
		want = append(want[:1], want[2:4]...)
		if diff := cmp.Diff(want, rules(), cmp.Comparer(samePrefix)); diff != "" {
			t.Errorf("rules after revoke (-want +got):\n%s", diff)
		}
		wantCode(t, l.revoke(probes, permit("tcp", 1, 1, "198.18.0.1/32")), "InvalidPermission.NotFound")
	})
}

func rule(protocol string, port uint16, source string) vm.Rule {
	return vm.Rule{Protocol: protocol, FromPort: port, ToPort: port, Sources: []netip.Prefix{netip.MustParsePrefix(source)}}
}

func samePrefix(a, b netip.Prefix) bool { return a == b }

func TestGroupLimit(t *testing.T) {
	l := open(t, fault.Faults{}, rack.Timing{})
	group := l.createGroup(ireland, "g")
	peers := func(from, n int) types.IpPermission {
		p := permit("tcp", 8462, 8462)
		for i := range n {
			p.IpRanges = append(p.IpRanges, types.IpRange{CidrIp: aws.String(fmt.Sprintf("198.18.1.%d/32", from+i))})
		}
		return p
	}
	wantCode(t, l.authorize(group, peers(0, 61)), "RulesPerSecurityGroupLimitExceeded")
	if err := l.authorize(group, peers(0, 60)); err != nil {
		t.Errorf("60 rules: %v", err)
	}
	wantCode(t, l.authorize(group, peers(100, 1)), "RulesPerSecurityGroupLimitExceeded")
	v6 := types.IpPermission{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(22), ToPort: aws.Int32(22),
		Ipv6Ranges: []types.Ipv6Range{{CidrIpv6: aws.String("2001:db8::/64")}}}
	if err := l.authorize(group, v6); err != nil {
		t.Errorf("a rule of the other family: %v", err)
	}
	out, err := l.ec2(ireland).DescribeSecurityGroups(t.Context(), &awsec2.DescribeSecurityGroupsInput{GroupIds: []string{group}})
	if err != nil || len(out.SecurityGroups[0].IpPermissions) != 2 || len(out.SecurityGroups[0].IpPermissions[1].IpRanges) != 60 {
		t.Errorf("described: %+v, %v", out, err)
	}
}

func TestGroupErrors(t *testing.T) {
	l := open(t, fault.Faults{}, rack.Timing{})
	group := l.createGroup(ireland, "Mine")
	ssh := permit("tcp", 22, 22, "198.18.0.9/32")
	if err := l.authorize(group, ssh); err != nil {
		t.Fatal(err)
	}
	_, twice := l.ec2(ireland).CreateSecurityGroup(t.Context(), &awsec2.CreateSecurityGroupInput{GroupName: aws.String("mine"), Description: aws.String("x")})
	_, named := l.ec2(ireland).CreateSecurityGroup(t.Context(), &awsec2.CreateSecurityGroupInput{GroupName: aws.String("sg-x"), Description: aws.String("x")})
	_, unknown := l.ec2(ohio).DescribeSecurityGroups(t.Context(), &awsec2.DescribeSecurityGroupsInput{GroupIds: []string{group}})
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"Twice":        {twice, "InvalidGroup.Duplicate"},
		"Name":         {named, "InvalidParameterValue"},
		"OtherRegion":  {unknown, "InvalidGroup.NotFound"},
		"RuleTwice":    {l.authorize(group, permit("tcp", 80, 80, "198.18.0.9/32"), ssh), "InvalidPermission.Duplicate"},
		"CIDR":         {l.authorize(group, permit("tcp", 22, 22, "198.18.0.9")), "InvalidParameterValue"},
		"Ports":        {l.authorize(group, permit("tcp", 23, 22, "198.18.0.9/32")), "InvalidParameterValue"},
		"Protocol":     {l.authorize(group, permit("esp", 0, 0, "198.18.0.9/32")), "InvalidParameterValue"},
		"NoSource":     {l.authorize(group, permit("tcp", 22, 22)), "InvalidRequest"},
		"DeleteAnyone": {l.deleteGroup("sg-0123"), "InvalidGroup.NotFound"},
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, c.err, c.code) })
	}
	out, err := l.ec2(ireland).DescribeSecurityGroups(t.Context(), &awsec2.DescribeSecurityGroupsInput{GroupIds: []string{group}})
	if err != nil || len(out.SecurityGroups[0].IpPermissions) != 1 {
		t.Errorf("a refused authorize left something: %+v, %v", out, err)
	}
}

func TestGroupInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		group := l.createGroup(ireland, "g")
		id := l.run(ireland, func(in *awsec2.RunInstancesInput) {
			in.NetworkInterfaces = []types.InstanceNetworkInterfaceSpecification{{
				DeviceIndex: aws.Int32(0), Groups: []string{group}, AssociatePublicIpAddress: aws.Bool(true),
			}}
		})
		synctest.Wait()
		wantCode(t, l.deleteGroup(group), "DependencyViolation")
		l.terminate(ireland, id)
		synctest.Wait()
		if err := l.deleteGroup(group); err != nil {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestVisibility(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Visible: rack.Range{Min: time.Second, Max: time.Second}})
		client, ctx := l.ec2(ireland), t.Context()
		group, err := client.CreateSecurityGroup(ctx, &awsec2.CreateSecurityGroupInput{GroupName: aws.String("g"), Description: aws.String("x")})
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, l.authorize(*group.GroupId, permit("tcp", 22, 22, "198.18.0.9/32")), "InvalidGroup.NotFound")
		time.Sleep(time.Second)
		if err := l.authorize(*group.GroupId, permit("tcp", 22, 22, "198.18.0.9/32")); err != nil {
			t.Errorf("a second later: %v", err)
		}
		other, err := client.CreateSecurityGroup(ctx, &awsec2.CreateSecurityGroupInput{GroupName: aws.String("h"), Description: aws.String("x")})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.deleteGroup(*other.GroupId); err != nil {
			t.Errorf("deleting what can't be seen yet: %v", err)
		}
	})
}
