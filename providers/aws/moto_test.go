//go:build unix

package aws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/providertest"
)

// motoExempt are the promises that moto can't show.
var motoExempt = map[string]string{
	"LaunchTwice":       "moto ignores RunInstances' ClientToken: a repeat makes another machine",
	"LaunchInstead":     "moto ignores RunInstances' ClientToken: a repeat makes another machine",
	"LaunchLosesAnswer": "moto ignores RunInstances' ClientToken: a repeat makes another machine",
	"LaunchCutAtCall":   "at every call in turn: minutes of moto's time, and its lists are never late",
	"DestroyDuringCall": "at every call in turn: minutes of moto's time, and its lists are never late",
	"LaunchIPv6":        "no VPC of moto's has an IPv6 range",
	"LastCut":           "counts the provider's calls, whoever answers them",
}

// motoElsewhere are more tests that the other regions are spared: moto takes 10 ms
// of a core for a call, and there are hundreds in each.
var motoElsewhere = []string{"Admit", "ClosedEndpoint", "DestroyNeedsRun", "DestroyTwiceAtOnce", "DestroyUnknown", "LaunchAdopts",
	"LaunchBadSpec", "LaunchTags", "LaunchUnknownRegion", "ListAllRuns", "SSHFromControllerOnly", "Silent"}

// motoElsewhereToo are those that say nothing of a VPC of the run's own.
var motoElsewhereToo = []string{"LaunchInNoZone", "LaunchInZone", "LaunchSpot", "LaunchRegionsAtOnce", "DestroyTwice"}

// motoRun is one of the suite's runs, in four regions in all.
type motoRun struct {
	regions [2]string
	exempt  map[string]string
	ownVPC  bool // the default VPC was deleted
}

func motoRuns() []motoRun {
	elsewhere := maps.Clone(motoExempt)
	for _, name := range motoElsewhere {
		elsewhere[name] = "the same in every region, and shown in others"
	}
	ownVPC := maps.Clone(elsewhere)
	for _, name := range motoElsewhereToo {
		ownVPC[name] = "the same in every VPC, and shown in others"
	}
	delete(ownVPC, "LaunchTags") // shows those of the VPC
	return []motoRun{
		{[2]string{"eu-west-1", "us-east-2"}, motoExempt, false},
		{[2]string{"ap-northeast-1", "sa-east-1"}, elsewhere, false},
		{[2]string{"eu-west-1", "us-east-2"}, ownVPC, true},
	}
}

// TestMotoConformance holds the provider against an EC2 that nobody of this
// project wrote. Beyond what is exempt, moto
//
//   - knows no placement groups, and keeps associations of subnets that are gone:
//     for these calls it is answered;
//   - lets a security group be deleted that is in use, so that the wait for it is
//     not tested here;
//   - forgets groups that are given with a network interface, so that rules are
//     read from the run's groups instead of from the machine;
//   - wants the size of a root disk.
//
// Its machines' addresses belong to strangers, and are never called. The suite
// runs in fake time, over real connections: while one is open, time stands still.
func TestMotoConformance(t *testing.T) {
	server := startMoto(t)
	for _, run := range motoRuns() {
		t.Run(run.String(), func(t *testing.T) {
			providertest.Run(t, providertest.Cloud{
				Name:        Cloud,
				Regions:     run.regions,
				MachineType: DefaultMachineType,
				Exempt:      run.exempt,
				Open:        func(t *testing.T, way providertest.Way) providertest.World { return server.open(t, way, run) },
				At: func(t *testing.T, to http.RoundTripper, timeout time.Duration) providers.Provider {
					return at(t, to, timeout)
				},
			})
		})
	}
}

// moto is a running moto_server.
type moto struct {
	addr     string
	accounts atomic.Int64 // made so far
}

// open gives a world in an account of its own.
func (m *moto) open(t *testing.T, way providertest.Way, run motoRun) providertest.World {
	regions := run.regions[:]
	account := fmt.Sprintf("%012d", 100+m.accounts.Add(1))
	// Kept open, an idle connection would keep fake time from passing.
	transport := &http.Transport{DisableKeepAlives: true}
	var to http.RoundTripper = inAccount{account, m.addr, transport}
	truth := at(t, to, providers.DefaultCallTimeout)
	if way != nil {
		to = way(to)
	}
	w := motoWorld{truth}
	if run.ownVPC {
		for _, name := range regions {
			w.deleteDefaultVPC(t, w.region(name))
		}
	}
	return providertest.World{Provider: at(t, to, providers.DefaultCallTimeout), Reaches: w.reaches,
		Left: func() []string { return w.left(t, regions, func([]types.Tag) bool { return true }) },
		Untagged: func(key, value string) []string {
			return w.left(t, regions, func(tags []types.Tag) bool {
				return !slices.ContainsFunc(tags, func(has types.Tag) bool { return aws.ToString(has.Key) == key && aws.ToString(has.Value) == value })
			})
		}}
}

// inAccount sends requests to one account of a moto server.
type inAccount struct {
	account, addr string
	next          http.RoundTripper
}

func (a inAccount) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", a.addr
	r.Header.Set("X-Moto-Account-Id", a.account)
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if answer := spared(r, body); answer != nil {
		return answer, nil
	}
	if bytes.Contains(body, []byte("Action=RunInstances&")) {
		body = append(body, diskSize...)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return a.next.RoundTrip(r)
}

// motoWorld reads the truth from the API itself, which is never late.
type motoWorld struct{ *Provider }

func (w motoWorld) reaches(m providers.Machine, protocol string, port int, from netip.Addr) bool {
	ctx := context.Background()
	out, err := w.region(m.Region).ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{m.ID}})
	if err != nil || len(out.Reservations) == 0 {
		return false
	}
	groups, err := w.region(m.Region).groups(ctx, tag(out.Reservations[0].Instances[0].Tags, providers.TagRun))
	return err == nil && slices.ContainsFunc(groups, func(g types.SecurityGroup) bool {
		return slices.Contains(rules(g.IpPermissions), rule{protocol, port, from})
	})
}

// left lists what is there and has such tags.
func (w motoWorld) left(t *testing.T, regions []string, such func([]types.Tag) bool) []string {
	var list []string
	for _, name := range regions {
		list = append(list, w.leftIn(t, w.region(name), such)...)
	}
	return list
}

// leftIn lists what is in a region, whoever it belongs to.
func (w motoWorld) leftIn(t *testing.T, r *region, such func([]types.Tag) bool) []string {
	ctx := context.Background()
	instances, err := r.instances(ctx, alive)
	keys, err2 := r.ec2.DescribeKeyPairs(ctx, &ec2.DescribeKeyPairsInput{})
	groups, err3 := r.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{})
	disks, err4 := r.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{})
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Errorf("what is left in %s: %v", r.name, err)
		return nil
	}
	var list []string
	add := func(what string, id *string, tags []types.Tag) {
		if such(tags) {
			list = append(list, what+" "+aws.ToString(id))
		}
	}
	for _, i := range instances {
		add("instance", i.InstanceId, i.Tags)
	}
	for _, k := range keys.KeyPairs {
		add("key pair", k.KeyName, k.Tags)
	}
	for _, g := range groups.SecurityGroups {
		if aws.ToString(g.GroupName) != "default" {
			add("group", g.GroupName, g.Tags)
		}
	}
	for _, v := range disks.Volumes {
		add("disk", v.VolumeId, v.Tags)
	}
	w.networksIn(t, r, add)
	return list
}
