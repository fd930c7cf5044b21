package ec2_test

import (
	"encoding/base64"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
)

func tagged(kind types.ResourceType, kv ...string) types.TagSpecification {
	s := types.TagSpecification{ResourceType: kind}
	for i := 0; i < len(kv); i += 2 {
		s.Tags = append(s.Tags, types.Tag{Key: &kv[i], Value: &kv[i+1]})
	}
	return s
}

func TestInstanceLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.DefaultTiming())
		l.machines.StartDelay = time.Second
		client, ctx := l.ec2(ireland), t.Context()
		key := l.importKey(ireland, "run-key")
		hostKey := hostKeyPEM(t)
		private := strings.ReplaceAll(strings.TrimSpace(hostKey), "\n", "\n    ")
		id := l.run(ireland, func(in *awsec2.RunInstancesInput) {
			in.KeyName = aws.String("run-key")
			in.UserData = base64Of("#cloud-config\nssh_keys:\n  ed25519_private: |\n    " + private + "\nbootcmd: [shutdown -P +9]\n")
			in.TagSpecifications = []types.TagSpecification{
				tagged(types.ResourceTypeInstance, "antipode-run", "r1"), tagged(types.ResourceTypeVolume, "antipode-run", "r1"),
			}
			in.CreditSpecification = &types.CreditSpecificationRequest{CpuCredits: aws.String("standard")}
			in.MetadataOptions = &types.InstanceMetadataOptionsRequest{HttpTokens: types.HttpTokensStateRequired}
			in.InstanceInitiatedShutdownBehavior = types.ShutdownBehaviorTerminate
		})

		byID := &awsec2.DescribeInstancesInput{InstanceIds: []string{id}}
		_, err := client.DescribeInstances(ctx, byID)
		wantCode(t, err, "InvalidInstanceID.NotFound")
		l.settle()
		if got := l.state(ireland, id); got != types.InstanceStateNamePending {
			t.Errorf("state = %s, want pending", got)
		}
		time.Sleep(time.Second)
		out, err := client.DescribeInstances(ctx, byID)
		if err != nil {
			t.Fatal(err)
		}
		i := out.Reservations[0].Instances[0]
		if i.State.Name != types.InstanceStateNameRunning || aws.ToString(i.PublicIpAddress) != "198.18.0.1" ||
			aws.ToString(i.PrivateIpAddress) != "10.0.0.1" || aws.ToString(i.Placement.AvailabilityZone) != "eu-west-1a" {
			t.Errorf("instance = %s %v %v %v", i.State.Name, i.PublicIpAddress, i.PrivateIpAddress, i.Placement)
		}
		nics, err := client.DescribeNetworkInterfaces(ctx, &awsec2.DescribeNetworkInterfacesInput{
			Filters: []types.Filter{{Name: aws.String("attachment.instance-id"), Values: []string{id}}},
		})
		if err != nil || len(nics.NetworkInterfaces) != 1 || *nics.NetworkInterfaces[0].Association.PublicIp != "198.18.0.1" {
			t.Errorf("interfaces = %+v, %v", nics, err)
		}
		m, _ := l.machines.Machine(id)
		if m.Spec.User != "ec2-user" || m.Spec.AuthorizedKeys[0] != strings.TrimSpace(key) || string(m.Spec.HostKeyPEM) != hostKey ||
			!cmp.Equal(m.Spec.BootCommands, []string{"shutdown -P +9"}) {
			t.Errorf("spec = %+v", m.Spec)
		}

		l.terminate(ireland, id)
		synctest.Wait()
		if got := l.state(ireland, id); got != types.InstanceStateNameTerminated {
			t.Errorf("state = %s, want terminated", got)
		}
		for _, it := range l.door.Inventory().Alive() {
			if it.Kind != "key-pair" {
				t.Errorf("left: %+v", it)
			}
		}
		time.Sleep(l.rack.Timing.Linger + time.Second)
		_, err = client.DescribeInstances(ctx, byID)
		wantCode(t, err, "InvalidInstanceID.NotFound")
	})
}

func TestHalt(t *testing.T) {
	for behavior, want := range map[types.ShutdownBehavior]types.InstanceStateName{
		types.ShutdownBehaviorTerminate: types.InstanceStateNameTerminated,
		types.ShutdownBehaviorStop:      types.InstanceStateNameStopped,
		"":                              types.InstanceStateNameStopped,
	} {
		t.Run("behavior "+string(behavior), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := open(t, fault.Faults{}, rack.DefaultTiming())
				id := l.run(ireland, func(in *awsec2.RunInstancesInput) { in.InstanceInitiatedShutdownBehavior = behavior })
				l.settle()
				l.machines.Halt(id)
				synctest.Wait()
				if got := l.state(ireland, id); got != want {
					t.Errorf("state = %s, want %s", got, want)
				}
				l.terminate(ireland, id)
				synctest.Wait()
				if left := l.door.Inventory().Alive(); len(left) > 0 {
					t.Errorf("left after terminate: %+v", left)
				}
			})
		})
	}
}

func TestTerminateAllOrNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{})
		id := l.run(ireland, nil)
		synctest.Wait()
		_, err := l.ec2(ireland).TerminateInstances(t.Context(), &awsec2.TerminateInstancesInput{
			InstanceIds: []string{id, "i-0123456789abcdef0"},
		})
		wantCode(t, err, "InvalidInstanceID.NotFound")
		if got := l.state(ireland, id); got != types.InstanceStateNameRunning {
			t.Errorf("state = %s, want running", got)
		}
	})
}

func TestTerminateWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		l.machines.StartDelay = time.Minute
		id := l.run(ireland, nil)
		synctest.Wait()
		l.terminate(ireland, id)
		synctest.Wait()
		if got := l.state(ireland, id); got != types.InstanceStateNameTerminated {
			t.Errorf("state = %s, want terminated at once", got)
		}
	})
}

func TestClientToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		in := func(zone string, kind types.InstanceType) func(*awsec2.RunInstancesInput) {
			return func(in *awsec2.RunInstancesInput) {
				in.ClientToken, in.InstanceType = aws.String("once"), kind
				in.Placement = &types.Placement{AvailabilityZone: &zone}
			}
		}
		first := l.run(ireland, in("eu-west-1a", types.InstanceTypeT3Nano))
		if again := l.run(ireland, in("eu-west-1a", types.InstanceTypeT3Nano)); again != first {
			t.Errorf("the same call made %s beside %s", again, first)
		}
		if other := l.run(ireland, in("eu-west-1b", types.InstanceTypeT3Nano)); other == first {
			t.Error("the token held in another zone, it must not")
		}
		_, err := l.ec2(ireland).RunInstances(t.Context(), l.runInput(ireland, in("eu-west-1a", types.InstanceTypeT3Micro)))
		wantCode(t, err, "IdempotentParameterMismatch")
		l.terminate(ireland, first)
		synctest.Wait()
		_, err = l.ec2(ireland).RunInstances(t.Context(), l.runInput(ireland, in("eu-west-1a", types.InstanceTypeT3Nano)))
		wantCode(t, err, "IdempotentInstanceTerminated")
	})
}

func TestRunRefuses(t *testing.T) {
	l := open(t, fault.Faults{}, rack.Timing{})
	arm := types.InstanceTypeT4gNano
	for name, c := range map[string]struct {
		edit func(*awsec2.RunInstancesInput)
		code string
	}{
		"Image":      {func(in *awsec2.RunInstancesInput) { in.ImageId = aws.String("ami-0123") }, "InvalidAMIID.NotFound"},
		"OtherImage": {func(in *awsec2.RunInstancesInput) { in.ImageId = l.image(ohio) }, "InvalidAMIID.NotFound"},
		"Type":       {func(in *awsec2.RunInstancesInput) { in.InstanceType = "t1.huge" }, "InvalidParameterValue"},
		"Arch":       {func(in *awsec2.RunInstancesInput) { in.InstanceType = arm }, "InvalidParameterValue"},
		"Key":        {func(in *awsec2.RunInstancesInput) { in.KeyName = aws.String("none") }, "InvalidKeyPair.NotFound"},
		"Group":      {func(in *awsec2.RunInstancesInput) { in.SecurityGroupIds = []string{"sg-0"} }, "InvalidGroup.NotFound"},
		"Zone": {func(in *awsec2.RunInstancesInput) {
			in.Placement = &types.Placement{AvailabilityZone: aws.String("us-east-2a")}
		}, "InvalidParameterValue"},
		"Subnet": {func(in *awsec2.RunInstancesInput) { in.SubnetId = aws.String("subnet-0") }, "InvalidSubnetID.NotFound"},
		"Credits": {func(in *awsec2.RunInstancesInput) {
			in.InstanceType = types.InstanceTypeC5Large
			in.CreditSpecification = &types.CreditSpecificationRequest{CpuCredits: aws.String("standard")}
		}, "InvalidParameterCombination"},
		"Count": {func(in *awsec2.RunInstancesInput) { in.MinCount = aws.Int32(2) }, "InvalidParameterValue"},
		"Many":  {func(in *awsec2.RunInstancesInput) { in.MaxCount = aws.Int32(1000) }, "InstanceLimitExceeded"},
		"UserData": {func(in *awsec2.RunInstancesInput) {
			in.UserData = aws.String(base64.StdEncoding.EncodeToString(make([]byte, 16<<10+1)))
		}, "InvalidParameterValue"},
		"NotBase64": {func(in *awsec2.RunInstancesInput) { in.UserData = aws.String("#!") }, "InvalidUserData.Malformed"},
		"Tag": {func(in *awsec2.RunInstancesInput) {
			in.TagSpecifications = []types.TagSpecification{tagged(types.ResourceTypeInstance, "aws:x", "y")}
		}, "InvalidParameterValue"},
		"TagType": {func(in *awsec2.RunInstancesInput) {
			in.TagSpecifications = []types.TagSpecification{tagged(types.ResourceTypeVpc, "x", "y")}
		}, "InvalidParameterValue"},
		"Unknown": {func(in *awsec2.RunInstancesInput) { in.KernelId = aws.String("aki-1") }, "UnknownParameter"},
		"DryRun":  {func(in *awsec2.RunInstancesInput) { in.DryRun = aws.Bool(true) }, "DryRunOperation"},
		"GroupsTwice": {func(in *awsec2.RunInstancesInput) {
			in.SecurityGroupIds = []string{"sg-0"}
			in.NetworkInterfaces = []types.InstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), Groups: []string{"sg-0"}}}
		}, "InvalidParameterCombination"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := l.ec2(ireland).RunInstances(t.Context(), l.runInput(ireland, c.edit))
			wantCode(t, err, c.code)
		})
	}
	if left := l.door.Inventory(); len(left) > 0 {
		t.Errorf("refused calls left %+v", left)
	}
}

func TestVolumesGoAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{})
		id := l.run(ireland, func(in *awsec2.RunInstancesInput) {
			in.BlockDeviceMappings = []types.BlockDeviceMapping{
				{DeviceName: aws.String("/dev/xvda"), Ebs: &types.EbsBlockDevice{DeleteOnTermination: aws.Bool(true), VolumeSize: aws.Int32(9)}},
				{DeviceName: aws.String("/dev/sdf"), Ebs: &types.EbsBlockDevice{VolumeSize: aws.Int32(1)}},
			}
			in.TagSpecifications = []types.TagSpecification{tagged(types.ResourceTypeVolume, "antipode-run", "r1")}
		})
		volumes := func() []types.Volume {
			out, err := l.ec2(ireland).DescribeVolumes(t.Context(), &awsec2.DescribeVolumesInput{
				Filters: []types.Filter{{Name: aws.String("tag:antipode-run"), Values: []string{"r1"}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			return out.Volumes
		}
		remove := func(v types.Volume) error {
			_, err := l.ec2(ireland).DeleteVolume(t.Context(), &awsec2.DeleteVolumeInput{VolumeId: v.VolumeId})
			return err
		}
		if got := volumes(); len(got) != 2 || got[0].State != types.VolumeStateInUse {
			t.Fatalf("volumes = %+v, want two in use", got)
		}
		wantCode(t, remove(volumes()[0]), "VolumeInUse")
		l.terminate(ireland, id)
		synctest.Wait()
		if got := volumes(); len(got) != 1 || *got[0].Size != 1 || got[0].State != types.VolumeStateAvailable {
			t.Errorf("volumes = %+v, want the second, left over", got)
		}
		left := volumes()[0]
		if err := remove(left); err != nil || len(volumes()) > 0 {
			t.Errorf("DeleteVolume = %v, leaves %+v", err, volumes())
		}
		wantCode(t, remove(left), "InvalidVolume.NotFound")
	})
}

func TestPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour})
		var want []string
		for range 12 {
			want = append(want, l.run(ireland, func(in *awsec2.RunInstancesInput) {
				in.TagSpecifications = []types.TagSpecification{tagged(types.ResourceTypeInstance, "antipode-run", "r1")}
			}))
			time.Sleep(time.Millisecond)
		}
		l.run(ireland, nil)
		pages := awsec2.NewDescribeInstancesPaginator(l.ec2(ireland), &awsec2.DescribeInstancesInput{
			MaxResults: aws.Int32(5),
			Filters: []types.Filter{
				{Name: aws.String("tag:antipode-run"), Values: []string{"r?"}},
				{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
			},
		})
		var got []string
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Reservations {
				got = append(got, *r.Instances[0].InstanceId)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("instances (-want +got):\n%s", diff)
		}
	})
}

func TestManyLaunchesAtOnce(t *testing.T) {
	l := open(t, fault.Faults{}, rack.Timing{Linger: time.Hour}).listen()
	l.machines.StartDelay = 200 * time.Millisecond
	start := time.Now()
	var launches sync.WaitGroup
	for range 46 {
		launches.Go(func() {
			client := l.ec2(ohio)
			out, err := client.RunInstances(t.Context(), l.runInput(ohio, nil))
			if err != nil {
				t.Errorf("RunInstances = %v", err)
				return
			}
			waiter := awsec2.NewInstanceRunningWaiter(client, func(o *awsec2.InstanceRunningWaiterOptions) {
				o.MinDelay, o.MaxDelay = 10*time.Millisecond, 50*time.Millisecond
			})
			in := &awsec2.DescribeInstancesInput{InstanceIds: []string{*out.Instances[0].InstanceId}}
			if err := waiter.Wait(t.Context(), in, 2*time.Minute); err != nil {
				t.Errorf("Wait = %v", err)
			}
		})
	}
	launches.Wait()
	t.Logf("46 launches, 200 ms each: %v", time.Since(start))
	if n := len(l.machines.Running()); n != 46 {
		t.Errorf("%d machines run, want 46", n)
	}
}
