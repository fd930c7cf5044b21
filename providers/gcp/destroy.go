package gcp

import (
	"context"
	"errors"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
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
	err := providers.Drain(ctx, teardownLimit, func(ctx context.Context) ([]providers.Resource, error) {
		return p.List(ctx, runID, regions)
	}, p.remove)
	return providers.Wrap(Cloud, "", "Destroy", err)
}

// remove ends all that can end now: machines and rules first, disks and the
// network once nothing holds them. It waits for the operations, to know why
// one failed.
func (p *Provider) remove(ctx context.Context, left []providers.Resource) error {
	machines, rules := count(left, providers.Instance), count(left, providers.FirewallRule)
	disks := count(left, providers.Disk)
	errs := make([]error, len(left))
	var g errgroup.Group
	g.SetLimit(deletesAtOnce)
	for i, r := range left {
		switch {
		case r.Kind == providers.Instance && r.State == "STOPPING":
			continue // on its way out
		case r.Kind == providers.Disk && machines > 0:
			continue // goes with its machine
		case r.Kind == providers.Network && machines+disks+rules > 0:
			continue
		}
		g.Go(func() error {
			errs[i] = p.delete(ctx, r)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs: one must not stop the others
	return errors.Join(errs...)
}

func count(left []providers.Resource, kind string) int {
	n := 0
	for _, r := range left {
		if r.Kind == kind {
			n++
		}
	}
	return n
}

// delete ends one resource. That it is gone already is fine.
func (p *Provider) delete(ctx context.Context, r providers.Resource) error {
	var op *compute.Operation
	var err error
	var name string
	switch r.Kind {
	case providers.Instance:
		name = "instances.delete"
		op, err = ask(ctx, p, r.Region, name, p.instances.Delete, &computepb.DeleteInstanceRequest{
			Project: p.project, Zone: r.Zone, Instance: r.ID, RequestId: requestID()})
	case providers.Disk:
		name = "disks.delete"
		op, err = ask(ctx, p, r.Region, name, p.disks.Delete, &computepb.DeleteDiskRequest{
			Project: p.project, Zone: r.Zone, Disk: r.ID, RequestId: requestID()})
	case providers.FirewallRule:
		name = "firewalls.delete"
		op, err = ask(ctx, p, "", name, p.firewalls.Delete, &computepb.DeleteFirewallRequest{
			Project: p.project, Firewall: r.ID, RequestId: requestID()})
	case providers.Network:
		name = "networks.delete"
		op, err = ask(ctx, p, "", name, p.networks.Delete, &computepb.DeleteNetworkRequest{
			Project: p.project, Network: r.ID, RequestId: requestID()})
	}
	if err == nil {
		err = p.finish(ctx, r.Region, name, op)
	}
	if providers.KindOf(err) == providers.NotFound {
		return nil
	}
	return err
}
