package gcp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/lab/door"
)

// strangers are the labels of things that are not ours, however much they look
// like it. Their networks and rules say the same in their descriptions.
var strangers = map[string]map[string]string{
	"antipode-r1-lookalike": nil,
	"antipode-r1-own-word":  {"antipode-run": "r1"},
	"antipode-r1-plural":    {"antipode-runs": "r1", "antipode-expires": "1796000000"},
	"antipode-r1-expiry":    {"antipode-expires": "1796000000"},
	"antipode-r1b":          {"antipode-run": "r1", "antipode-expires": "1796000000"},
	"copied-from-ours":      {"antipode-run": "r1", "antipode-expires": "1796000000"},
}

// TestStrangersAreSafe: what Antipode did not make is neither listed nor removed.
func TestStrangersAreSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{}, nil)
		for name, labels := range strangers {
			makeStranger(t, w.provider, name, labels)
		}
		if _, err := w.provider.Launch(t.Context(), testSpec(belgium)); err != nil {
			t.Fatal(err)
		}
		for _, runID := range []string{"r1", ""} {
			list, err := w.provider.List(t.Context(), runID, []string{belgium, oregon})
			if err != nil || len(list) < 4 {
				t.Errorf("List = %v, %v; want what the run made", list, err)
			}
			for _, r := range list {
				if _, is := strangers[r.ID]; is {
					t.Errorf("List of run %q has a stranger: %+v", runID, r)
				}
			}
		}
		if err := w.provider.Destroy(t.Context(), "r1", []string{belgium, oregon}); err != nil {
			t.Errorf("Destroy: %v", err)
		}
		count := map[string]int{}
		for _, item := range w.Doors.Inventory().Alive() {
			if _, is := strangers[item.Name]; !is {
				t.Errorf("left: %+v", item)
			}
			count[item.Name]++
		}
		for name := range strangers {
			if count[name] < 4 { // network, rule, machine and disk
				t.Errorf("of stranger %s only %d things are left", name, count[name])
			}
		}
	})
}

func makeStranger(t *testing.T, p *Provider, name string, labels map[string]string) {
	t.Helper()
	var words []string
	for k, v := range labels {
		words = append(words, k+"="+v)
	}
	slices.Sort(words)
	text := strings.Join(words, " ")
	ctx := t.Context()
	network := fmt.Sprintf("projects/%s/global/networks/%s", p.project, name)
	op, err := ask(ctx, p, "", "networks.insert", p.nets.Insert, &computepb.InsertNetworkRequest{Project: p.project,
		NetworkResource: &computepb.Network{Name: &name, Description: &text, AutoCreateSubnetworks: new(true)}})
	if err == nil {
		err = p.finish(ctx, "", "networks.insert", op)
	}
	if err != nil {
		t.Fatal(err)
	}
	op, err = ask(ctx, p, "", "firewalls.insert", p.firewalls.Insert, &computepb.InsertFirewallRequest{Project: p.project,
		FirewallResource: &computepb.Firewall{Name: &name, Description: &text, Network: &network, Direction: new("INGRESS"),
			SourceRanges: []string{"198.18.0.1/32"}, Allowed: []*computepb.Allowed{allow("tcp", 443)}}})
	if err == nil {
		err = p.finish(ctx, "", "firewalls.insert", op)
	}
	if err != nil {
		t.Fatal(err)
	}
	zone := belgium + "-b"
	machine := p.instance(testSpec(belgium), zone, "", name)
	machine.Labels, machine.Disks[0].InitializeParams.Labels = labels, labels
	machine.NetworkInterfaces[0].Network, machine.NetworkInterfaces[0].Subnetwork = &network, nil // the region's own
	op, err = ask(ctx, p, belgium, "instances.insert", p.instances.Insert, &computepb.InsertInstanceRequest{
		Project: p.project, Zone: zone, InstanceResource: machine})
	if err == nil {
		err = p.finish(ctx, belgium, "instances.insert", op)
	}
	if err != nil {
		t.Fatal(err)
	}
}
