package gcp

import (
	"context"
	"net/netip"
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/providers"
)

// adoptFrom leaves of zones the one in which an earlier process made the run's
// machine, if there is one: names are unique in a zone only, so the first zone
// would give a second machine. One on its way out doesn't count.
func (p *Provider) adoptFrom(ctx context.Context, spec providers.Spec, zones []string) ([]string, error) {
	there, err := p.listInstances(ctx, spec.Run.ID, []string{spec.Region})
	if err != nil {
		return nil, err
	}
	name := instanceName(spec.Run.ID, spec.Region)
	for _, r := range there {
		if r.ID == name && r.State != "STOPPING" {
			return []string{r.Zone}, nil
		}
	}
	return zones, nil
}

// end deletes a machine, unless it is gone: the one that takes its place has the
// same name, and maybe the zone, but another address.
func (p *Provider) end(ctx context.Context, m providers.Machine) error {
	instance, err := ask(ctx, p, m.Region, "instances.get", p.instances.Get, &computepb.GetInstanceRequest{
		Project: p.project, Zone: m.Zone, Instance: m.ID})
	if providers.KindOf(err) == providers.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if public, _, err := addresses(instance); m.Public.IsValid() && err == nil && public != m.Public {
		return nil
	}
	return p.delete(ctx, providers.Resource{Kind: providers.Instance, Region: m.Region, Zone: m.Zone, ID: m.ID})
}

// moveRule makes sources the only ones of a rule that exists: the controller
// has moved, and its old address may be somebody else's.
func (p *Provider) moveRule(ctx context.Context, project, name string, sources []netip.Addr) error {
	rule, err := ask(ctx, p, "", "firewalls.get", p.firewalls.Get, &computepb.GetFirewallRequest{Project: project, Firewall: name})
	if err != nil || slices.Equal(rule.GetSourceRanges(), ranges(sources)) {
		return err
	}
	return change(ctx, p, "", "firewalls.patch", p.firewalls.Patch, &computepb.PatchFirewallRequest{
		Project: project, Firewall: name,
		FirewallResource: &computepb.Firewall{Name: &name, SourceRanges: ranges(sources)},
	})
}
