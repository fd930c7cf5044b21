package aws

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/providertest"
)

// fine is what a region answers in which nothing is in the way.
func fine(name string) providers.RegionPreflight {
	return providers.RegionPreflight{Region: name, MachineType: DefaultMachineType,
		Zones:      []string{name + "a", name + "b", name + "c"},
		Allowances: []providers.Allowance{{Name: "vCPUs (L-1216C47A)", Limit: 256, Machine: 2}}}
}

func wanted(types ...string) providers.Wanted {
	return providers.Wanted{Regions: []string{ireland, ohio}, MachineTypes: types}
}

func TestPreflight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{}, nil)
		got := providers.Ask(t.Context(), w.provider, wanted("t3.zonk", DefaultMachineType))
		want := providers.Preflight{Cloud: Cloud, Account: "000000000042",
			Regions: []providers.RegionPreflight{fine(ireland), fine(ohio)}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("preflight (-want +got):\n%s", diff)
		}
		if left := w.Left(); len(left) > 0 {
			t.Errorf("a preflight made %v", left)
		}
	})
}

// TestPreflightFindings has something in the way in Ireland, and nothing in Ohio.
func TestPreflightFindings(t *testing.T) {
	here := fault.Place{Cloud: Cloud, Region: ireland}
	denied := func(call string) door.Faults {
		return door.Faults{Calls: []fault.Call{{Place: here, Call: call, Kind: fault.Denied}}}
	}
	noVPC := func(f door.Faults) door.Faults {
		f.NoDefault = []string{ireland}
		return f
	}
	for name, tt := range map[string]struct {
		faults  door.Faults
		verdict providers.Verdict
		says    string
	}{
		"NotOptedIn":     {door.Faults{OptedOut: []string{ireland}}, providers.VerdictSkip, "enable-region --region-name eu-west-1"},
		"NoDefaultVPC":   {noVPC(door.Faults{}), providers.VerdictWarn, "the run makes one"},
		"MayNotMakeVPC":  {noVPC(denied("CreateVpc")), providers.VerdictSkip, "CreateVpc: UnauthorizedOperation"},
		"MayNotMakeGate": {noVPC(denied("CreateInternetGateway")), providers.VerdictSkip, "CreateInternetGateway: UnauthorizedOperation"},
		"MayNotAskVPCs":  {noVPC(denied("GetServiceQuota")), providers.VerdictWarn, "the run makes one"},
		"NoRoomForVPC": {noVPC(door.Faults{Quotas: []fault.Allowance{{Place: here, Quota: vpcQuota, Limit: 1}}}),
			providers.VerdictSkip, "VPCs (L-F678F1CE): 1 of 1 used"},
		"MayNotRun":        {denied("RunInstances"), providers.VerdictSkip, "RunInstances: UnauthorizedOperation"},
		"MayNotGroup":      {denied("CreateSecurityGroup"), providers.VerdictSkip, "CreateSecurityGroup: UnauthorizedOperation"},
		"MayNotImport":     {denied("ImportKeyPair"), providers.VerdictSkip, "ImportKeyPair: UnauthorizedOperation"},
		"MayNotLookUp":     {denied("GetParameter"), providers.VerdictSkip, "GetParameter: UnauthorizedOperation"},
		"MayNotAskQuotas":  {denied("GetServiceQuota"), providers.VerdictGo, ""},
		"MayNotAskRegions": {door.Faults{Calls: []fault.Call{{Call: "DescribeRegions", Kind: fault.Denied}}, OptedOut: []string{ireland}}, providers.VerdictSkip, "not enabled this region"},
		"Quota":            {door.Faults{Quotas: []fault.Allowance{{Place: here, Quota: standardVCPUs, Limit: 1}}}, providers.VerdictSkip, "0 of 1 used, and t3.nano takes 2"},
		"Down":             {door.Faults{Calls: []fault.Call{{Place: here, Kind: fault.Error500}}}, providers.VerdictWarn, "not checked: "},
		"NoRoom":           {door.Faults{Calls: []fault.Call{{Place: here, Call: "RunInstances", Kind: fault.Capacity}}}, providers.VerdictGo, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openWorld(t, tt.faults, nil)
				got := providers.Ask(t.Context(), w.provider, wanted(DefaultMachineType))
				worst := providers.Worst(got.Regions[0].Findings)
				if worst.Verdict != tt.verdict || !strings.Contains(worst.Reason, tt.says) {
					t.Errorf("Ireland: %+v, want %s and %q", got.Regions[0].Findings, tt.verdict, tt.says)
				}
				promised := slices.ContainsFunc(got.Regions[0].Findings, func(f providers.Finding) bool { return strings.Contains(f.Reason, "the run makes one") })
				if promised && worst.Verdict == providers.VerdictSkip {
					t.Errorf("Ireland is skipped, and yet: %+v", got.Regions[0].Findings)
				}
				if diff := cmp.Diff(fine(ohio), got.Regions[1]); diff != "" || len(got.Findings) > 0 {
					t.Errorf("Ohio (-want +got):\n%s\naccount: %v", diff, got.Findings)
				}
			})
		})
	}
}

// TestPreflightSpot asks for another quota, which the lab has not.
func TestPreflightSpot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := door.Faults{Quotas: []fault.Allowance{{Quota: standardVCPUs}}}
		w := wanted(DefaultMachineType)
		w.Spot = true
		for _, r := range providers.Ask(t.Context(), openWorld(t, faults, nil).provider, w).Regions {
			if len(r.Findings) > 0 || len(r.Allowances) > 0 {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestPreflightZones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wanted(DefaultMachineType)
		w.Zones = map[string][]string{ohio: {ohio + "c", ohio + "a"}, ireland: {ireland + "z"}}
		got := providers.Ask(t.Context(), openWorld(t, door.Faults{}, nil).provider, w)
		if worst := providers.Worst(got.Regions[0].Findings); worst.Verdict != providers.VerdictSkip || !strings.Contains(worst.Reason, "eu-west-1z") {
			t.Errorf("a zone that is not there: %v", worst)
		}
		want := fine(ohio)
		want.Zones = w.Zones[ohio]
		if diff := cmp.Diff(want, got.Regions[1]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPreflightIPv6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wanted(DefaultMachineType)
		w.IPv6 = true
		got := providers.Ask(t.Context(), openWorld(t, door.Faults{}, nil).provider, w)
		if diff := cmp.Diff(fine(ireland), got.Regions[0]); diff != "" {
			t.Error(diff)
		}
		if worst := providers.Worst(got.Regions[1].Findings); worst.Verdict != providers.VerdictSkip || !strings.Contains(worst.Reason, "associate-vpc-cidr-block") {
			t.Errorf("a region without IPv6: %v", got.Regions[1].Findings)
		}
		got = providers.Ask(t.Context(), openWorld(t, door.Faults{NoDefault: []string{ireland}}, nil).provider, w)
		if worst := providers.Worst(got.Regions[0].Findings); worst.Verdict != providers.VerdictWarn || !strings.Contains(worst.Reason, "the run makes one") {
			t.Errorf("a VPC of the run's own: %v", got.Regions[0].Findings)
		}
	})
}

// TestPreflightIPv6WithoutRoute: subnets with ranges whose table leads IPv4 alone
// to the internet.
func TestPreflightIPv6WithoutRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, wish := openWorld(t, door.Faults{}, nil), wanted(DefaultMachineType)
		r, ctx, back := w.provider.region(ireland), t.Context(), w.asStranger()
		subnets, err := r.subnets(ctx)
		if err != nil {
			t.Fatal(err)
		}
		table, err := r.ec2.CreateRouteTable(ctx, &ec2.CreateRouteTableInput{VpcId: subnets[0].VpcId})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // until the table is seen
		for _, s := range subnets {
			_, aerr := r.ec2.AssociateRouteTable(ctx, &ec2.AssociateRouteTableInput{RouteTableId: table.RouteTable.RouteTableId, SubnetId: s.SubnetId})
			err = errors.Join(err, aerr)
		}
		if back(); err != nil {
			t.Fatal(err)
		}
		if got := providers.Ask(ctx, w.provider, wish); providers.Worst(got.Regions[0].Findings).Verdict != providers.VerdictGo {
			t.Errorf("who needs no IPv6 is told %v", got.Regions[0].Findings)
		}
		wish.IPv6 = true
		got := providers.Ask(ctx, w.provider, wish)
		if worst := providers.Worst(got.Regions[0].Findings); worst.Verdict != providers.VerdictSkip || !strings.Contains(worst.Reason, "a route for ::/0") {
			t.Errorf("subnets without a way out are %v", got.Regions[0].Findings)
		}
	})
}

func TestPreflightUnknownType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := providers.Ask(t.Context(), openWorld(t, door.Faults{}, nil).provider, wanted("t3.zonk", "t9.nano"))
		for _, r := range got.Regions {
			if worst := providers.Worst(r.Findings); worst.Verdict != providers.VerdictSkip || !strings.Contains(worst.Reason, "no zone offers t3.zonk or t9.nano") {
				t.Errorf("%s: %v", r.Region, r.Findings)
			}
		}
	})
}

func TestPreflightBadCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := door.Faults{Calls: []fault.Call{{Call: "GetCallerIdentity", Kind: fault.Denied}}}
		got := providers.Ask(t.Context(), openWorld(t, faults, nil).provider, wanted(DefaultMachineType))
		if providers.Worst(got.Findings).Verdict != providers.VerdictRefuse || got.Account != "" {
			t.Errorf("account %q: %v, want everything refused", got.Account, got.Findings)
		}
		for _, r := range got.Regions {
			if providers.Worst(r.Findings).Verdict != providers.VerdictSkip {
				t.Errorf("%s: %v", r.Region, r.Findings)
			}
		}
	})
}

// TestPreflightQuotaInUse counts the machines that are there.
func TestPreflightQuotaInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{}, nil)
		r := w.provider.region(ireland)
		image, err := r.image(t.Context(), DefaultMachineType)
		if err != nil {
			t.Fatal(err)
		}
		back := w.asStranger()
		if _, err := r.ec2.RunInstances(t.Context(), &ec2.RunInstancesInput{ImageId: &image,
			InstanceType: DefaultMachineType, MinCount: aws.Int32(1), MaxCount: aws.Int32(1)}); err != nil {
			t.Fatal(err)
		}
		back()
		time.Sleep(time.Minute) // until it runs and is listed
		got := providers.Ask(t.Context(), w.provider, wanted(DefaultMachineType))
		if quota := got.Regions[0].Allowances[0]; quota.Used != 2 || quota.Room() != 127 {
			t.Errorf("quota %+v, room for %d", quota, quota.Room())
		}
	})
}

// TestPreflightEnds though nobody answers.
func TestPreflightEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{Calls: []fault.Call{{Kind: fault.Silent}}}, nil)
		providertest.PreflightEnds(t, w.provider, wanted(DefaultMachineType))
	})
}

func TestRehearsalKey(t *testing.T) {
	if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(rehearsalKey)); err != nil {
		t.Error(err)
	}
}
