package gcp

import (
	"context"
	"errors"
	"slices"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

const (
	// teardownLimit is for everything; an instance takes about a minute.
	teardownLimit = 10 * time.Minute
	// deletesAtOnce bounds the calls in flight: a project may make about 20 a second.
	deletesAtOnce = 20
)

// Destroy empties regions, and removes what is global once nothing uses it.
// The network stays, and is an error, while the run has machines elsewhere.
func (p *Provider) Destroy(ctx context.Context, runID string, regions []string) error {
	if err := providers.CheckRunID(runID); err != nil {
		return providers.Wrap(Cloud, "", "Destroy", err)
	}
	err := providers.Drain(ctx, teardownLimit, p.doubts.Settled(runID), func(ctx context.Context) ([]providers.Resource, error) {
		return p.List(ctx, runID, regions)
	}, p.remove)
	return providers.Wrap(Cloud, "", "Destroy", err)
}

// remove ends all that nothing else holds any more. It waits for the
// operations, to know why one failed.
func (p *Provider) remove(ctx context.Context, left []providers.Resource) error {
	errs := make([]error, len(left))
	var g errgroup.Group
	g.SetLimit(deletesAtOnce)
	for i, r := range left {
		if r.State == "STOPPING" || held(r, left) {
			continue // on its way out, or not yet
		}
		g.Go(func() error {
			errs[i] = p.delete(ctx, r)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs: one must not stop the others
	return errors.Join(errs...)
}

// held says whether something among left has to go before r: machines take
// their disks with them, and stand in a subnet; the network goes last.
func held(r providers.Resource, left []providers.Resource) bool {
	return slices.ContainsFunc(left, func(other providers.Resource) bool {
		switch r.Kind {
		case providers.Disk, providers.Subnet:
			return other.Kind == providers.Instance && other.Region == r.Region
		case providers.Network:
			return other.Kind == providers.Instance || other.Kind == providers.FirewallRule || other.Kind == providers.Subnet
		}
		return false
	})
}

// delete ends one resource. That it is gone already is fine.
func (p *Provider) delete(ctx context.Context, r providers.Resource) error {
	var err error
	switch r.Kind {
	case providers.Instance:
		err = change(ctx, p, r.Region, "instances.delete", p.instances.Delete, &computepb.DeleteInstanceRequest{
			Project: p.project, Zone: r.Zone, Instance: r.ID})
	case providers.Disk:
		err = change(ctx, p, r.Region, "disks.delete", p.disks.Delete, &computepb.DeleteDiskRequest{
			Project: p.project, Zone: r.Zone, Disk: r.ID})
	case providers.FirewallRule:
		project, name := p.ruleAt(r.ID)
		err = change(ctx, p, "", "firewalls.delete", p.firewalls.Delete, &computepb.DeleteFirewallRequest{
			Project: project, Firewall: name})
	case providers.Subnet:
		err = change(ctx, p, r.Region, "subnetworks.delete", p.subnets.Delete, &computepb.DeleteSubnetworkRequest{
			Project: p.project, Region: r.Region, Subnetwork: r.ID})
	case providers.Network:
		err = change(ctx, p, "", "networks.delete", p.nets.Delete, &computepb.DeleteNetworkRequest{
			Project: p.project, Network: r.ID})
	}
	if providers.KindOf(err) == providers.NotFound {
		return nil
	}
	return err
}
