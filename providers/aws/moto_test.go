//go:build unix

package aws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
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
	"LaunchLosesAnswer": "moto ignores RunInstances' ClientToken: a repeat makes another machine",
	"LaunchCutAtCall":   "at every call in turn: minutes of moto's time, and its lists are never late",
	"DestroyDuringCall": "at every call in turn: minutes of moto's time, and its lists are never late",
}

// motoRegions are pairs for the suite, four regions in all.
var motoRegions = [][2]string{{"eu-west-1", "us-east-2"}, {"ap-northeast-1", "sa-east-1"}}

// TestMotoConformance holds the provider against an EC2 that nobody of this
// project wrote. Beyond what is exempt, moto knows no placement groups, which
// the provider does not use; lets a security group be deleted that is in use,
// so that the wait for it is not tested here; and forgets groups that are given
// with a network interface, so that rules are read from the run's groups
// instead of from the machine; and wants the size of a root disk. Its machines' addresses belong to strangers, and
// are never called.
//
// The suite runs in fake time, over real connections: while one is open, time
// stands still.
func TestMotoConformance(t *testing.T) {
	server := startMoto(t)
	for _, regions := range motoRegions {
		t.Run(regions[0], func(t *testing.T) {
			providertest.Run(t, providertest.Cloud{
				Name:        Cloud,
				Regions:     regions,
				MachineType: DefaultMachineType,
				Exempt:      motoExempt,
				Open:        func(t *testing.T, way providertest.Way) providertest.World { return server.open(t, way, regions[:]) },
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

// startMoto starts a server for as long as the test runs. Where there is none
// to start, the test is skipped, but not in CI.
func startMoto(t *testing.T) *moto {
	t.Helper()
	path, err := exec.LookPath("moto_server")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("moto_server is not installed (pip install 'moto[server]')")
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &moto{addr: l.Addr().String()}
	_, port, _ := net.SplitHostPort(m.addr)
	l.Close()
	var said bytes.Buffer
	cmd := exec.Command(path, "-H", "127.0.0.1", "-p", port)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it may be a script that starts another process
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("moto_server said at last:\n%s", said.Bytes()[max(0, said.Len()-2000):])
		}
	})
	if err := m.await(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

// await asks until the server answers, for a minute at most.
func (m *moto) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.addr+"/moto-api/data.json", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			return resp.Body.Close()
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(errors.New("moto_server does not answer"), err)
		}
	}
}

// open gives a world in an account of its own.
func (m *moto) open(t *testing.T, way providertest.Way, regions []string) providertest.World {
	account := fmt.Sprintf("%012d", 100+m.accounts.Add(1))
	// Kept open, an idle connection would keep fake time from passing.
	transport := &http.Transport{DisableKeepAlives: true}
	var to http.RoundTripper = inAccount{account, m.addr, transport}
	truth := at(t, to, providers.DefaultCallTimeout)
	if way != nil {
		to = way(to)
	}
	w := motoWorld{truth}
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
	if err := addDiskSize(r); err != nil {
		return nil, err
	}
	return a.next.RoundTrip(r)
}

// addDiskSize says what EC2 takes from the image and moto does not.
func addDiskSize(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if bytes.Contains(body, []byte("Action=RunInstances&")) {
		body = append(body, "&BlockDeviceMapping.1.Ebs.VolumeSize=8"...)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
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
	return list
}
