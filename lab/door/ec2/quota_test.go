package ec2_test

import (
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
)

// TestQuota: as many vCPUs run on demand as Service Quotas says, in each region
// by itself; Spot machines and those that ended don't count.
func TestQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		place := fault.Place{Cloud: "aws", Region: ireland}
		l := open(t, fault.Faults{Quotas: []fault.Allowance{{Place: place, Quota: fault.StandardVCPUs, Limit: 5}}}, rack.DefaultTiming())
		run := func(region string, edit func(*awsec2.RunInstancesInput)) error {
			_, err := l.ec2(region).RunInstances(t.Context(), l.runInput(region, edit))
			return err
		}
		for region, want := range map[string]float64{ireland: 5, ohio: 256} {
			if got := l.vcpuQuota(region); got != want {
				t.Errorf("quota of %s = %v, want %v", region, got, want)
			}
		}
		first := l.run(ireland, nil)
		l.run(ireland, nil)
		wantCode(t, run(ireland, nil), "VcpuLimitExceeded")
		wantCode(t, run(ireland, func(in *awsec2.RunInstancesInput) { in.DryRun = aws.Bool(true) }), "DryRunOperation")
		for _, err := range []error{run(ohio, nil), run(ireland, func(in *awsec2.RunInstancesInput) {
			in.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot}
		})} {
			if err != nil {
				t.Errorf("not within the quota: %v", err)
			}
		}
		l.terminate(ireland, first)
		synctest.Wait()
		l.settle()
		if err := run(ireland, nil); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}

func (l *lab) vcpuQuota(region string) float64 {
	l.t.Helper()
	out, err := servicequotas.NewFromConfig(l.config(region)).GetServiceQuota(l.t.Context(), &servicequotas.GetServiceQuotaInput{
		ServiceCode: aws.String("ec2"), QuotaCode: aws.String(fault.StandardVCPUs)})
	if err != nil {
		l.t.Fatal(err)
	}
	return aws.ToFloat64(out.Quota.Value)
}

func TestUnknownQuota(t *testing.T) {
	l := open(t, fault.Faults{}, rack.DefaultTiming())
	_, err := servicequotas.NewFromConfig(l.config(ireland)).GetServiceQuota(t.Context(), &servicequotas.GetServiceQuotaInput{
		ServiceCode: aws.String("ec2"), QuotaCode: aws.String("L-00000000")})
	wantCode(t, err, "NoSuchResourceException")
}

// TestDryRun asks without being told what only a real call would meet.
func TestDryRun(t *testing.T) {
	l := open(t, fault.Faults{Calls: []fault.Call{
		{Call: "RunInstances", Kind: fault.Capacity, Count: 1}, {Call: "CreateSecurityGroup", Kind: fault.Denied}}}, rack.DefaultTiming())
	client := l.ec2(ireland)
	_, err := client.RunInstances(t.Context(), l.runInput(ireland, func(in *awsec2.RunInstancesInput) { in.DryRun = aws.Bool(true) }))
	wantCode(t, err, "DryRunOperation")
	_, err = client.RunInstances(t.Context(), l.runInput(ireland, nil))
	wantCode(t, err, "InsufficientInstanceCapacity")
	_, err = client.CreateSecurityGroup(t.Context(), &awsec2.CreateSecurityGroupInput{
		GroupName: aws.String("g"), Description: aws.String("a test"), DryRun: aws.Bool(true)})
	wantCode(t, err, "UnauthorizedOperation")
	if left := l.door.Inventory(); len(left) > 0 {
		t.Errorf("a dry run made %+v", left)
	}
}

// TestHomeRegion: everybody may ask the first region of a partition who they
// are and which regions there are, though the lab has nothing else there.
func TestHomeRegion(t *testing.T) {
	l := open(t, fault.Faults{OptedOut: []string{capeTown}}, rack.DefaultTiming())
	if _, err := sts.NewFromConfig(l.config("us-east-1")).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}); err != nil {
		t.Error(err)
	}
	out, err := l.ec2("us-east-1").DescribeRegions(t.Context(), &awsec2.DescribeRegionsInput{AllRegions: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range out.Regions {
		got[*r.RegionName] = *r.OptInStatus
	}
	want := map[string]string{ireland: "opt-in-not-required", ohio: "opt-in-not-required", capeTown: "not-opted-in"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = l.ec2("us-east-1").DescribeVpcs(t.Context(), &awsec2.DescribeVpcsInput{})
	wantCode(t, err, "AuthFailure")
}
