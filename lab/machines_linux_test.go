package lab

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/hypervisor"
	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/world"
)

// testRegions are few and near.
var testRegions = []string{"eu-west-1", "us-east-1"}

func testWorld() *world.World {
	var regions []antipode.Region
	for _, name := range testRegions {
		r, _ := antipode.Find(antipode.Regions(), "aws:"+name)
		regions = append(regions, r)
	}
	return world.Default(regions)
}

// brisk clouds do everything at once.
func brisk() *door.Timing { return &door.Timing{Linger: time.Minute, Seed: 1} }

// machineLab starts a lab that can run machines.
func machineLab(t *testing.T, link string) *Lab {
	t.Helper()
	return open(t, Options{Rough: true, World: testWorld(), Timing: brisk(), Machine: machineBinary, Link: link})
}

// ec2 makes one call through the AWS door and returns the answer's XML.
func ec2(ctx context.Context, l *Lab, region string, form url.Values) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.Endpoints().AWS, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=k/20261130/"+region+"/ec2/aws4_request, Signature=0")
	answer, err := l.HTTPClient().Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", form.Get("Action"), answer.Status, body)
	}
	return string(body), err
}

// between returns the text between the first two marks, "" without them.
func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, found := strings.Cut(s, to)
	if !found {
		return ""
	}
	return s
}

// runMachines starts machines that everybody may reach.
func runMachines(ctx context.Context, l *Lab, region string, count int) error {
	images, err := ec2(ctx, l, region, url.Values{"Action": {"DescribeImages"},
		"Filter.1.Name": {"architecture"}, "Filter.1.Value.1": {"x86_64"}})
	if err != nil {
		return err
	}
	groups, err := ec2(ctx, l, region, url.Values{"Action": {"DescribeSecurityGroups"}})
	if err != nil {
		return err
	}
	_, err = ec2(ctx, l, region, url.Values{
		"Action": {"AuthorizeSecurityGroupIngress"}, "GroupId": {between(groups, "<groupId>", "<")},
		"IpPermissions.1.IpProtocol": {"-1"}, "IpPermissions.1.IpRanges.1.CidrIp": {"0.0.0.0/0"},
	})
	if err != nil && !strings.Contains(err.Error(), "Duplicate") {
		return err
	}
	_, err = ec2(ctx, l, region, url.Values{
		"Action": {"RunInstances"}, "ImageId": {between(images, "<imageId>", "<")},
		"InstanceType": {"t3.nano"}, "MinCount": {fmt.Sprint(count)}, "MaxCount": {fmt.Sprint(count)},
		// What outlives its parent's death most stubbornly.
		"UserData": {base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\nsetsid nohup sleep 1000 </dev/null >/dev/null 2>&1 &\n"))},
	})
	return err
}

// machinesOf waits until count machines run and answer on port 22, and returns them.
func machinesOf(ctx context.Context, l *Lab, count int) ([]hypervisor.Process, error) {
	// Short at first: what is sent before a machine is up is lost, and sent again
	// only after a second.
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 10*time.Second) {
		data, err := l.Inventory(ctx)
		if err != nil {
			return nil, err
		}
		var found struct {
			Processes []hypervisor.Process `json:"processes"`
		}
		if err := json.Unmarshal(data, &found); err != nil {
			return nil, err
		}
		if len(found.Processes) == count && allAnswer(ctx, l, found.Processes, wait) {
			return found.Processes, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%d machines of %d: %w", len(found.Processes), count, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func allAnswer(ctx context.Context, l *Lab, machines []hypervisor.Process, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for _, m := range machines {
		banner := make([]byte, 4)
		c, err := l.Dial(ctx, "tcp", netip.AddrPortFrom(m.Public, 22).String())
		if err != nil {
			return false
		}
		c.SetDeadline(time.Now().Add(5 * within))
		_, err = io.ReadFull(c, banner)
		c.Close()
		if err != nil || string(banner) != "SSH-" {
			return false
		}
	}
	return true
}

func TestMachines(t *testing.T) {
	for _, link := range []string{LinkAuto, LinkVeth} {
		t.Run("link "+link, func(t *testing.T) {
			l := machineLab(t, link)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for _, region := range testRegions {
				if err := runMachines(ctx, l, region, 2); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := machinesOf(ctx, l, 2*len(testRegions)); err != nil {
				t.Fatal(err)
			}
			wantCounts(t, l)
		})
	}
}

// wantCounts: the router has seen what went to the machines and back.
func wantCounts(t *testing.T, l *Lab) {
	t.Helper()
	data, err := l.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if some, err := l.CountsBetween(t.Context(), "aws:us-east-1", ""); err != nil || bytes.Count(some, []byte(`"from"`)) != 2 || bytes.Contains(some, []byte("eu-west-1")) {
		t.Errorf("CountsBetween = %s, %v; want both ways between the controller and aws:us-east-1", some, err)
	}
	var counts struct {
		Pairs []struct {
			From, To  string
			Delivered struct{ Packets int64 }
		}
	}
	if err := json.Unmarshal(data, &counts); err != nil {
		t.Fatal(err)
	}
	delivered := make(map[string]int64)
	for _, p := range counts.Pairs {
		delivered[p.From+">"+p.To] = p.Delivered.Packets
	}
	for _, pair := range []string{">aws:eu-west-1", "aws:us-east-1>"} {
		if delivered[pair] == 0 {
			t.Errorf("no packets counted of %q in %s", pair, data)
		}
	}
}

func TestDoors(t *testing.T) {
	l := machineLab(t, LinkAuto)
	answer, err := l.HTTPClient().Get(l.Endpoints().CheckIP)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if want := l.Endpoints().Controller.String(); err != nil || strings.TrimSpace(string(body)) != want {
		t.Errorf("the check-ip door says %q, %v; want %s", body, err, want)
	}
	rows, err := l.Truth(t.Context(), nil, world.Test{})
	if err != nil || len(rows) != len(testRegions)*(len(testRegions)-1) {
		t.Errorf("Truth = %v, %v; want a row per pair", rows, err)
	}
}

func TestCalibrates(t *testing.T) {
	l := open(t, Options{World: testWorld()})
	data, err := l.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var counts struct {
		Calibration struct {
			CapacityBps float64 `json:"capacity_bps"`
		}
	}
	if err := json.Unmarshal(data, &counts); err != nil || counts.Calibration.CapacityBps <= 0 {
		t.Errorf("Counts = %s, %v; want a capacity", data, err)
	}
}

func TestMachineOfNoCloud(t *testing.T) {
	l := open(t, Options{Rough: true, World: testWorld(), Machine: machineBinary, SampleEvery: time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	spec := vm.Spec{ID: "m", Cloud: "aws", Region: testRegions[0], Hostname: "m", User: "somebody"}
	addresses, err := l.StartMachine(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	found, err := machinesOf(ctx, l, 1)
	if err != nil || found[0].Public != addresses.Public {
		t.Fatalf("%v, %v; want %v", found, err, addresses)
	}
	if _, err := l.StartMachine(ctx, spec); err == nil {
		t.Error("two machines of one id")
	}
	data, err := l.Flows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var flows []router.FlowCount
	if err := json.Unmarshal(data, &flows); err != nil {
		t.Fatal(err)
	}
	for _, f := range flows {
		if f.Src.Addr() == addresses.Public && f.PayloadBytes > 0 && len(f.Samples) > 0 {
			return // it said its banner
		}
	}
	t.Errorf("no flow from the machine in %s", data)
}
