package gcp

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

const (
	launchLimit  = 5 * time.Minute // until the machine has its addresses
	hostKeyLimit = 4 * time.Minute // for the first boot, until the agent has written the key
)

// Launch makes the machine in the first zone that has room.
func (p *Provider) Launch(ctx context.Context, spec providers.Spec) (providers.Machine, error) {
	m := providers.Machine{Cloud: Cloud, Region: spec.Region, Type: spec.MachineType, User: User}
	err := p.launch(ctx, spec, &m)
	return m, providers.Wrap(Cloud, spec.Region, "Launch", err)
}

func (p *Provider) launch(ctx context.Context, spec providers.Spec, m *providers.Machine) error {
	if err := spec.Check(); err != nil {
		return err
	}
	err := p.launchSomewhere(ctx, spec, m)
	if err != nil {
		p.doubts.Note(spec.Run.ID)
	}
	return err
}

func (p *Provider) launchSomewhere(ctx context.Context, spec providers.Spec, m *providers.Machine) error {
	zones, subnet, err := p.zonesAndSubnet(ctx, spec)
	if err != nil {
		return err
	}
	if spec.Instead != nil {
		if err := p.end(ctx, *spec.Instead); err != nil {
			return err
		}
	}
	if spec.Adopt {
		zones, err = p.adoptFrom(ctx, spec, zones)
		if err != nil {
			return err
		}
	}
	for _, spec.MachineType = range spec.Types() {
		m.Type, m.Image = spec.MachineType, image(spec.MachineType)
		for _, m.Zone = range zones {
			err = p.launchAt(ctx, spec, m.Zone, subnet, m)
			if providers.KindOf(err) != providers.Capacity {
				return err
			}
		}
	}
	return fmt.Errorf("no room in any of %d zones: %w", len(zones), err)
}

func (p *Provider) zonesAndSubnet(ctx context.Context, spec providers.Spec) (zones []string, subnet string, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { subnet, err = p.prepare(ctx, spec); return err })
	g.Go(func() (err error) { zones, err = p.zones(ctx, spec); return err })
	err = g.Wait()
	return zones, subnet, err
}

// zones are those where the machine may be, in the order to try them.
func (p *Provider) zones(ctx context.Context, spec providers.Spec) ([]string, error) {
	r, err := ask(ctx, p, spec.Region, "regions.get", p.regions.Get, &computepb.GetRegionRequest{Project: p.project, Region: spec.Region})
	if err != nil {
		return nil, err
	}
	var zones []string
	for _, url := range r.GetZones() {
		zones = append(zones, last(url))
	}
	slices.Sort(zones)
	skip := func(format string, args ...any) error {
		return &providers.Error{Op: "regions.get", Cloud: Cloud, Region: spec.Region, Kind: providers.Skip, Err: fmt.Errorf(format, args...)}
	}
	picked := spec.Pick(zones)
	switch {
	case len(zones) == 0:
		return nil, skip("no zone is open to project %s", p.project)
	case len(picked) == 0:
		return nil, skip("there is no zone %s here, but %s", strings.Join(spec.Zones, " or "), strings.Join(zones, ", "))
	}
	return picked, nil
}

// launchAt starts the machine in one zone and waits for its addresses and key.
func (p *Provider) launchAt(ctx context.Context, spec providers.Spec, zone, subnet string, m *providers.Machine) error {
	name := instanceName(spec.Run.ID, spec.Region)
	if err := p.insert(ctx, spec, zone, subnet, name); err != nil {
		return err
	}
	m.ID = name
	instance, err := p.await(ctx, spec, zone, name)
	if err != nil {
		return err
	}
	m.Type = last(instance.GetMachineType()) // an adopted one's may be another
	m.Image, m.Spot = image(m.Type), instance.GetScheduling().GetProvisioningModel() == spotModel
	if m.Public, m.Private, err = addresses(instance); err != nil {
		return err
	}
	if m.IPv6, err = ipv6Of(instance); err != nil {
		return err
	}
	m.HostKey, err = p.hostKey(ctx, spec.Region, zone, name)
	return err
}

// insert makes the instance. One by that name is left as it is: await looks
// whether it is ours.
func (p *Provider) insert(ctx context.Context, spec providers.Spec, zone, subnet, name string) error {
	err := change(ctx, p, spec.Region, "instances.insert", p.instances.Insert, &computepb.InsertInstanceRequest{
		Project: p.project, Zone: zone,
		InstanceResource: p.instance(spec, zone, subnet, name),
	})
	if providers.KindOf(err) == providers.Exists {
		return nil
	}
	return err
}

// await polls until the instance runs.
func (p *Provider) await(ctx context.Context, spec providers.Spec, zone, name string) (*computepb.Instance, error) {
	var instance *computepb.Instance
	err := providers.Poll(ctx, launchLimit, providers.AtOnce(providers.Steady()), "machine "+name, func(ctx context.Context) (_ bool, err error) {
		instance, err = ask(ctx, p, spec.Region, "instances.get", p.instances.Get, &computepb.GetInstanceRequest{
			Project: p.project, Zone: zone, Instance: name})
		if err != nil {
			return false, err
		}
		if !matches(instance.GetLabels(), spec.Run.ID) {
			return false, fmt.Errorf("instance %s exists without the label %s=%s: not ours, left alone",
				name, providers.TagRun, spec.Run.ID)
		}
		return ready(instance)
	})
	return instance, err
}

// ready says whether the instance runs, and whether it never will.
func ready(i *computepb.Instance) (bool, error) {
	switch status := i.GetStatus(); status {
	case "RUNNING":
		return true, nil
	case "PROVISIONING", "STAGING", "PENDING", "REPAIRING":
		return false, nil
	default:
		return false, fmt.Errorf("instance %s is %s: %s", i.GetName(), status, i.GetStatusMessage())
	}
}

func addresses(i *computepb.Instance) (public, private netip.Addr, err error) {
	for _, nic := range i.GetNetworkInterfaces() {
		if private, err = netip.ParseAddr(nic.GetNetworkIP()); err != nil {
			return public, private, fmt.Errorf("private address of %s: %w", i.GetName(), err)
		}
		for _, access := range nic.GetAccessConfigs() {
			public, err = netip.ParseAddr(access.GetNatIP())
			return public, private, err
		}
	}
	return public, private, fmt.Errorf("instance %s has no public address", i.GetName())
}

// hostKey reads the key that the machine's own agent writes into its guest
// attributes, at its first boot and once: before the first connection, and
// never again, since any process on the machine could change it.
//
// Ten questions a minute are allowed; more may lose the answer. The agent
// writes one attribute for each type of key, in any order.
func (p *Provider) hostKey(ctx context.Context, region, zone, name string) (key string, err error) {
	pauses := providers.Growing(500*time.Millisecond, 2, 8*time.Second)
	err = providers.Poll(ctx, hostKeyLimit, pauses, "host key of "+name, func(ctx context.Context) (bool, error) {
		attributes, err := ask(ctx, p, region, "instances.getGuestAttributes", p.instances.GetGuestAttributes,
			&computepb.GetGuestAttributesInstanceRequest{Project: p.project, Zone: zone, Instance: name, QueryPath: new("hostkeys/")})
		if providers.KindOf(err) == providers.NotFound {
			return false, nil
		}
		for _, item := range attributes.GetQueryValue().GetItems() {
			if item.GetKey() == hostKeyType {
				key = hostKeyType + " " + strings.TrimSpace(item.GetValue())
			}
		}
		return key != "", err
	})
	return key, err
}
