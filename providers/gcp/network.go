package gcp

import (
	"context"
	"fmt"
	"net/netip"

	"cloud.google.com/go/compute/apiv1/computepb"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

const sshPort = 22

// prepare makes what machines need around them: the run's network, unless the user
// has named one, and then in it the SSH rule and the region's subnet, which it returns.
func (p *Provider) prepare(ctx context.Context, spec providers.Spec) (subnet string, err error) {
	n, subnet, err := p.choose(spec.Run.ID, spec.Network)
	if err != nil {
		return "", err
	}
	if spec.Network != "" {
		subnet, err = p.pickSubnet(ctx, n, spec.Region, subnet, spec.IPv6) // before anything is made
	} else {
		subnet = n.name
		err = p.together(ctx, "network "+spec.Run.ID, func() error { return p.ensureNetwork(ctx, spec.Run) })
	}
	if err != nil {
		return "", err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return p.together(ctx, "rule "+spec.Run.ID, func() error { return p.ensureSSHRule(ctx, n, spec) })
	})
	if spec.Network == "" {
		g.Go(func() error { return p.ensureSubnet(ctx, n, spec.Run, spec.Region, spec.IPv6) })
	}
	return n.subnetURL(spec.Region, subnet), g.Wait()
}

// together does once what several launches need at the same time: one does it,
// the others wait.
func (p *Provider) together(ctx context.Context, what string, do func() error) error {
	for {
		flight := p.preparing.DoChan(what, func() (any, error) {
			err := do()
			return ctx.Err() != nil, err
		})
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case r := <-flight:
			// It was another launch's, which was cut short by an error of its
			// own: our turn.
			if cut := r.Val.(bool); r.Err != nil && cut && ctx.Err() == nil {
				continue
			}
			return r.Err
		}
	}
}

func (p *Provider) ensureSSHRule(ctx context.Context, n network, spec providers.Spec) error {
	name, from := sshRule(spec.Run.ID), []netip.Addr{spec.SSHFrom}
	made, err := p.insertRule(ctx, n, spec.Run, name, providers.Name(spec.Run.ID), from, allow("tcp", sshPort))
	if err != nil || made {
		return err
	}
	return p.moveRule(ctx, n.project, name, from)
}

// ensureNetwork makes the run's network, or adopts it.
func (p *Provider) ensureNetwork(ctx context.Context, run providers.Run) error {
	name := providers.Name(run.ID)
	err := change(ctx, p, "", "networks.insert", p.nets.Insert, &computepb.InsertNetworkRequest{
		Project: p.project,
		NetworkResource: &computepb.Network{
			Name:                  &name,
			Description:           new(description(run)),
			AutoCreateSubnetworks: new(false), // unset asks for a legacy network
		},
	})
	if providers.KindOf(err) != providers.Exists {
		return err
	}
	network, err := ask(ctx, p, "", "networks.get", p.nets.Get, &computepb.GetNetworkRequest{
		Project: p.project, Network: name})
	if err != nil {
		return err
	}
	return p.adopt("networks.insert", "network", name, network.GetDescription(), run.ID)
}

// adopt accepts what has the name we wanted, if it is the run's.
func (p *Provider) adopt(op, kind, name, text, runID string) error {
	if matches(described(text), runID) {
		return nil
	}
	return &providers.Error{Op: op, Cloud: Cloud, Kind: providers.Unknown,
		Err: fmt.Errorf("%s %s exists without %s=%s: not ours, left alone", kind, name, providers.TagRun, runID)}
}

// insertRule makes a firewall rule of the network that lets sources
// through to machines with the tag. made is false if there was one by that
// name, of the same run.
func (p *Provider) insertRule(ctx context.Context, n network, run providers.Run, name, tag string, sources []netip.Addr,
	allowed ...*computepb.Allowed) (made bool, err error) {
	err = change(ctx, p, "", "firewalls.insert", p.firewalls.Insert, &computepb.InsertFirewallRequest{
		Project: n.project,
		FirewallResource: &computepb.Firewall{
			Name:         &name,
			Description:  new(description(run)),
			Network:      new(n.url()),
			Direction:    new("INGRESS"),
			SourceRanges: ranges(sources),
			TargetTags:   []string{tag},
			Allowed:      allowed,
		},
	})
	if providers.KindOf(err) != providers.Exists {
		return err == nil, err
	}
	rule, err := ask(ctx, p, "", "firewalls.get", p.firewalls.Get, &computepb.GetFirewallRequest{
		Project: n.project, Firewall: name})
	if err != nil {
		return false, err
	}
	return false, p.adopt("firewalls.insert", "firewall rule", name, rule.GetDescription(), run.ID)
}

func allow(protocol string, port int) *computepb.Allowed {
	return &computepb.Allowed{IPProtocol: &protocol, Ports: []string{fmt.Sprint(port)}}
}

func ranges(addrs []netip.Addr) []string {
	var list []string
	for _, a := range addrs {
		a = a.Unmap()
		list = append(list, netip.PrefixFrom(a, a.BitLen()).String())
	}
	return list
}
