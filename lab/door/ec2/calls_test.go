package ec2_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm"
)

func TestKeyPairs(t *testing.T) {
	l := open(t, fault.Faults{}, rack.Timing{})
	client, ctx := l.ec2(ireland), t.Context()
	material := []byte(publicKey(t))
	in := &awsec2.ImportKeyPairInput{KeyName: aws.String("k"), PublicKeyMaterial: material,
		TagSpecifications: []types.TagSpecification{tagged(types.ResourceTypeKeyPair, "antipode-run", "r1")}}
	if _, err := client.ImportKeyPair(ctx, in); err != nil {
		t.Fatal(err)
	}
	_, err := client.ImportKeyPair(ctx, in)
	wantCode(t, err, "InvalidKeyPair.Duplicate")
	_, err = client.ImportKeyPair(ctx, &awsec2.ImportKeyPairInput{KeyName: aws.String("bad"), PublicKeyMaterial: []byte("ssh-ed25519 AAAA")})
	wantCode(t, err, "InvalidKey.Format")
	out, err := client.DescribeKeyPairs(ctx, &awsec2.DescribeKeyPairsInput{
		Filters: []types.Filter{{Name: aws.String("tag:antipode-run"), Values: []string{"r1"}}},
	})
	if err != nil || len(out.KeyPairs) != 1 || *out.KeyPairs[0].KeyName != "k" || out.KeyPairs[0].KeyType != types.KeyTypeEd25519 {
		t.Errorf("described: %+v, %v", out, err)
	}
	for range 2 { // safe to call twice
		if _, err := client.DeleteKeyPair(ctx, &awsec2.DeleteKeyPairInput{KeyName: aws.String("k")}); err != nil {
			t.Errorf("DeleteKeyPair = %v", err)
		}
	}
	_, err = client.DescribeKeyPairs(ctx, &awsec2.DescribeKeyPairsInput{KeyNames: []string{"k"}})
	wantCode(t, err, "InvalidKeyPair.NotFound")
}

func TestRegions(t *testing.T) {
	l := open(t, fault.Faults{OptedOut: []string{capeTown}}, rack.Timing{})
	out, err := l.ec2(ireland).DescribeRegions(t.Context(), &awsec2.DescribeRegionsInput{AllRegions: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range out.Regions {
		got[*r.RegionName] = *r.OptInStatus
	}
	if len(got) != 3 || got[ireland] != "opt-in-not-required" || got[capeTown] != "not-opted-in" {
		t.Errorf("regions = %v", got)
	}
	_, err = l.ec2(capeTown).DescribeVpcs(t.Context(), &awsec2.DescribeVpcsInput{})
	wantCode(t, err, "AuthFailure")
	_, err = ssm.NewFromConfig(l.config(capeTown)).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("x")})
	wantCode(t, err, "UnrecognizedClientException")
	_, err = sts.NewFromConfig(l.config(capeTown)).GetCallerIdentity(t.Context(), nil)
	wantCode(t, err, "InvalidClientTokenId")
	if out, err := open(t, fault.Faults{}, rack.Timing{}).ec2(ohio).DescribeRegions(t.Context(), nil); err != nil || len(out.Regions) != 3 {
		t.Errorf("by default all are open: %+v, %v", out, err)
	}
}

func TestOtherServices(t *testing.T) {
	l := open(t, fault.Faults{}, rack.Timing{})
	who, err := sts.NewFromConfig(l.config(ohio)).GetCallerIdentity(t.Context(), nil)
	if err != nil || len(*who.Account) != 12 {
		t.Errorf("GetCallerIdentity = %+v, %v", who, err)
	}
	_, err = ssm.NewFromConfig(l.config(ohio)).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/none")})
	wantCode(t, err, "ParameterNotFound")
	if *l.image(ohio) == *l.image(ireland) {
		t.Error("two regions have an image with the same id")
	}
	images, err := l.ec2(ohio).DescribeImages(t.Context(), &awsec2.DescribeImagesInput{
		Owners: []string{"amazon"}, Filters: []types.Filter{{Name: aws.String("name"), Values: []string{"al2023-ami-2023*-x86_64"}}},
	})
	if err != nil || len(images.Images) != 1 || *images.Images[0].ImageId != *l.image(ohio) {
		t.Errorf("DescribeImages = %+v, %v", images, err)
	}
}

func TestPlaces(t *testing.T) {
	l := open(t, fault.Faults{}, rack.Timing{})
	client, ctx := l.ec2(ireland), t.Context()
	vpcs, err := client.DescribeVpcs(ctx, &awsec2.DescribeVpcsInput{Filters: []types.Filter{{Name: aws.String("is-default"), Values: []string{"true"}}}})
	if err != nil || len(vpcs.Vpcs) != 1 {
		t.Fatalf("DescribeVpcs = %+v, %v", vpcs, err)
	}
	subnets, err := client.DescribeSubnets(ctx, &awsec2.DescribeSubnetsInput{Filters: []types.Filter{
		{Name: aws.String("vpc-id"), Values: []string{*vpcs.Vpcs[0].VpcId}}, {Name: aws.String("default-for-az"), Values: []string{"true"}},
	}})
	if err != nil || len(subnets.Subnets) != 3 || !*subnets.Subnets[0].MapPublicIpOnLaunch {
		t.Errorf("DescribeSubnets = %+v, %v", subnets, err)
	}
	zones, err := client.DescribeAvailabilityZones(ctx, nil)
	if err != nil || len(zones.AvailabilityZones) != 3 || *zones.AvailabilityZones[2].ZoneName != "eu-west-1c" {
		t.Errorf("DescribeAvailabilityZones = %+v, %v", zones, err)
	}
	offers, err := client.DescribeInstanceTypeOfferings(ctx, &awsec2.DescribeInstanceTypeOfferingsInput{
		LocationType: types.LocationTypeAvailabilityZone, Filters: []types.Filter{{Name: aws.String("instance-type"), Values: []string{"t3.nano"}}},
	})
	if err != nil || len(offers.InstanceTypeOfferings) != 3 {
		t.Errorf("DescribeInstanceTypeOfferings = %+v, %v", offers, err)
	}
	kinds, err := client.DescribeInstanceTypes(ctx, &awsec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"t4g.nano"}})
	if err != nil || kinds.InstanceTypes[0].ProcessorInfo.SupportedArchitectures[0] != types.ArchitectureTypeArm64 {
		t.Errorf("DescribeInstanceTypes = %+v, %v", kinds, err)
	}
}

func TestFaults(t *testing.T) {
	for kind, code := range map[fault.Kind]string{
		fault.Throttle: "RequestLimitExceeded", fault.Error500: "InternalError", fault.Denied: "UnauthorizedOperation",
		fault.Capacity: "InsufficientInstanceCapacity", fault.Quota: "VcpuLimitExceeded",
	} {
		t.Run(string(kind), func(t *testing.T) {
			l := open(t, fault.Faults{Calls: []fault.Call{{
				Place: fault.Place{Region: ireland, Zone: "eu-west-1a"}, Call: "RunInstances", Kind: kind, Count: 1}}}, rack.Timing{})
			in := l.runInput(ireland, func(in *awsec2.RunInstancesInput) {
				in.Placement = &types.Placement{AvailabilityZone: aws.String("eu-west-1a")}
			})
			_, err := l.ec2(ireland).RunInstances(t.Context(), in)
			wantCode(t, err, code)
			if left := l.door.Inventory(); len(left) > 0 {
				t.Errorf("a refused call left %+v", left)
			}
			if _, err := l.ec2(ireland).RunInstances(t.Context(), in); err != nil {
				t.Errorf("the second call: %v", err)
			}
		})
	}
}

func TestLateCapacity(t *testing.T) {
	l := open(t, fault.Faults{Calls: []fault.Call{{Call: "RunInstances", Kind: fault.LateCapacity}}}, rack.Timing{Linger: time.Hour})
	id := l.run(ireland, nil)
	out, err := l.ec2(ireland).DescribeInstances(t.Context(), &awsec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		t.Fatal(err)
	}
	i := out.Reservations[0].Instances[0]
	if i.State.Name != types.InstanceStateNameTerminated || *i.StateReason.Code != "Server.InsufficientInstanceCapacity" {
		t.Errorf("state %s, reason %+v", i.State.Name, i.StateReason)
	}
}

func TestSilentDoor(t *testing.T) {
	l := open(t, fault.Faults{Calls: []fault.Call{{Call: "DescribeVpcs", Kind: fault.Silent}}}, rack.Timing{}).listen()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.ec2(ireland).DescribeVpcs(ctx, &awsec2.DescribeVpcsInput{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want the caller's own deadline", err)
	}
}

func TestResetAfter(t *testing.T) {
	l := open(t, fault.Faults{Calls: []fault.Call{{Call: "RunInstances", Kind: fault.ResetAfter, Count: 1}}}, rack.Timing{}).listen()
	in := l.runInput(ireland, func(in *awsec2.RunInstancesInput) { in.ClientToken = aws.String("t") })
	if _, err := l.ec2(ireland).RunInstances(t.Context(), in); err == nil {
		t.Error("the first call was answered")
	}
	out, err := l.ec2(ireland).RunInstances(t.Context(), in)
	if err != nil || len(out.Instances) != 1 {
		t.Fatalf("the second call: %+v, %v", out, err)
	}
	n := 0
	for _, item := range l.door.Inventory() {
		if item.Kind == "instance" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d instances, want the one that the first call made", n)
	}
}

func TestMachineFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{Machines: []fault.Machine{{Place: fault.Place{Region: ireland}, NeverBoot: true, BootDelayS: 3}}}, rack.Timing{})
		bad, good := l.run(ireland, nil), l.run(ohio, nil)
		synctest.Wait()
		if m, _ := l.machines.Machine(bad); !m.Spec.Faults.NeverBoot || m.Spec.BootDelay != 3*time.Second {
			t.Errorf("the machine in %s: %+v", ireland, m.Spec)
		}
		if m, _ := l.machines.Machine(good); m.Spec.Faults.NeverBoot {
			t.Errorf("the machine in %s: %+v", ohio, m.Spec)
		}
	})
}

func TestStartError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		l.machines.StartError = refuse
		id := l.run(ireland, nil)
		synctest.Wait()
		if got := l.state(ireland, id); got != types.InstanceStateNameTerminated {
			t.Errorf("state = %s, want terminated", got)
		}
		if left := l.door.Inventory().Alive(); len(left) > 0 {
			t.Errorf("left: %+v", left)
		}
	})
}

func refuse(vm.Spec) error { return errors.New("no") }

func TestCreateTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{})
		id := l.run(ireland, nil)
		tag := []types.Tag{{Key: aws.String("antipode-run"), Value: aws.String("r1")}}
		if _, err := l.ec2(ireland).CreateTags(t.Context(), &awsec2.CreateTagsInput{Resources: []string{id}, Tags: tag}); err != nil {
			t.Fatal(err)
		}
		_, err := l.ec2(ireland).CreateTags(t.Context(), &awsec2.CreateTagsInput{Resources: []string{id, "vol-0"}, Tags: tag})
		wantCode(t, err, "InvalidID")
		out, err := l.ec2(ireland).DescribeInstances(t.Context(), &awsec2.DescribeInstancesInput{
			Filters: []types.Filter{{Name: aws.String("tag:antipode-run"), Values: []string{"r1"}}},
		})
		if err != nil || len(out.Reservations) != 1 {
			t.Errorf("DescribeInstances = %+v, %v", out, err)
		}
	})
}

func TestTerminateAgainAfterStopError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		id := l.run(ireland, nil)
		synctest.Wait()
		l.machines.StopError = func(string) error { return errors.New("stuck") }
		l.terminate(ireland, id)
		synctest.Wait()
		if got := l.state(ireland, id); got != types.InstanceStateNameRunning {
			t.Errorf("state = %s, want running: it is still there", got)
		}
		l.machines.StopError = nil
		l.terminate(ireland, id)
		synctest.Wait()
		if got := l.state(ireland, id); got != types.InstanceStateNameTerminated {
			t.Errorf("state = %s, want terminated", got)
		}
	})
}
