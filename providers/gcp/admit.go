package gcp

import (
	"context"
	"net/netip"
	"slices"
	"strconv"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/providers"
)

// peersPerRule stays below the limit of source ranges, which is 256 in the
// strictest account of it.
const peersPerRule = 250

// Admit makes firewall rules for the peers that none of the region's rules
// lets in yet.
func (p *Provider) Admit(ctx context.Context, run providers.Run, region string, probePort int, peers []netip.Addr) error {
	return providers.Wrap(Cloud, region, "Admit", p.admit(ctx, run, region, probePort, peers))
}

func (p *Provider) admit(ctx context.Context, run providers.Run, region string, port int, peers []netip.Addr) error {
	defer p.admitting.lock(run.ID + " " + region)()
	tag := instanceName(run.ID, region)
	network, _ := p.networkOf(run.ID)
	rules, err := p.rules(ctx, network.project, run.ID)
	if err != nil {
		return err
	}
	rules = slices.DeleteFunc(rules, func(r *computepb.Firewall) bool { return !slices.Contains(r.GetTargetTags(), tag) })
	n := len(rules)
	for _, chunk := range chunks(missing(rules, port, peers)) {
		for made := false; !made; n++ {
			// A rule by that name may exist though the list did not show it yet.
			made, err = p.insertRule(ctx, network, run, peerRule(run.ID, region, n), tag, chunk, allow("tcp", port), allow("udp", port))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// rules are the run's firewall rules in a project, all regions.
func (p *Provider) rules(ctx context.Context, project, runID string) ([]*computepb.Firewall, error) {
	return call(ctx, p, "", "firewalls.list", func(ctx context.Context) ([]*computepb.Firewall, error) {
		return collect(p.firewalls.List(ctx, &computepb.ListFirewallsRequest{Project: project}, once),
			func(r *computepb.Firewall) bool { return matches(described(r.GetDescription()), runID) })
	})
}

// missing are the peers that no rule lets through to port, each once.
func missing(rules []*computepb.Firewall, port int, peers []netip.Addr) []netip.Addr {
	in := map[string]bool{}
	for _, rule := range rules {
		if opens(rule, port) {
			for _, source := range rule.GetSourceRanges() {
				in[source] = true
			}
		}
	}
	var out []netip.Addr
	for _, peer := range peers {
		if r := ranges([]netip.Addr{peer})[0]; !in[r] {
			in[r] = true
			out = append(out, peer.Unmap())
		}
	}
	return out
}

func opens(rule *computepb.Firewall, port int) bool {
	return slices.ContainsFunc(rule.GetAllowed(), func(a *computepb.Allowed) bool {
		return slices.Contains(a.GetPorts(), strconv.Itoa(port))
	})
}

// chunks are small enough for a rule, and of one IP family each, as rules are.
func chunks(peers []netip.Addr) [][]netip.Addr {
	var v4, v6 []netip.Addr
	for _, p := range peers {
		if p.Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return append(slices.Collect(slices.Chunk(v4, peersPerRule)), slices.Collect(slices.Chunk(v6, peersPerRule))...)
}
