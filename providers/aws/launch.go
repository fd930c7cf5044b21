package aws

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

const (
	launchLimit      = 5 * time.Minute  // from RunInstances to a public address
	consistencyLimit = 30 * time.Second // until the API knows what it made
	sshPort          = 22
)

var errNotYet = errors.New("not there yet")

// Launch makes the machine in the first zone that has room.
func (p *Provider) Launch(ctx context.Context, spec providers.Spec) (providers.Machine, error) {
	m := providers.Machine{Cloud: Cloud, Region: spec.Region, Type: spec.MachineType, User: User, HostKey: spec.HostKey}
	err := p.launch(ctx, spec, &m)
	return m, providers.Wrap(Cloud, spec.Region, "Launch", err)
}

func (p *Provider) launch(ctx context.Context, spec providers.Spec, m *providers.Machine) error {
	if err := spec.Check(); err != nil {
		return err
	}
	if len(spec.HostKeyPEM) == 0 || spec.HostKey == "" {
		return errors.New("spec without the host key to give the machine")
	}
	r := p.region(spec.Region)
	err := r.launchSomewhere(ctx, spec, m)
	if err != nil {
		r.doubts.Note(spec.Run.ID)
	}
	return err
}

func (r *region) launchSomewhere(ctx context.Context, spec providers.Spec, m *providers.Machine) error {
	s, err := r.prepare(ctx, spec)
	if err != nil {
		return err
	}
	if spec.Instead != nil {
		if err := notFoundIsFine([]error{r.terminate(ctx, []string{spec.Instead.ID})}); err != nil {
			return err
		}
	}
	if s.there != nil {
		return r.adopt(ctx, *s.there, m)
	}
	tries, err := r.tries(spec, s)
	if err != nil {
		return err
	}
	for _, try := range tries {
		spec.MachineType, s.image = try.machineType, s.images[architecture(try.machineType)]
		m.Type, m.Image, m.Zone = spec.MachineType, s.image, try.zone
		err = r.launchAt(ctx, spec, s, try.place, m)
		if providers.KindOf(err) != providers.Capacity {
			return err
		}
	}
	return fmt.Errorf("no room in any of %d zones: %w", len(s.places), err)
}

// try is one way to get a machine.
type try struct {
	machineType string
	place
}

// tries are all ways: the next zone, and then the next machine type.
func (r *region) tries(spec providers.Spec, s site) ([]try, error) {
	places, err := r.speaking(s.places, spec.IPv6)
	if err != nil {
		return nil, err
	}
	var zones []string
	at := map[string]place{}
	for _, p := range places {
		zones, at[p.zone] = append(zones, p.zone), p
	}
	picked := spec.Pick(zones)
	if len(picked) == 0 {
		return nil, r.skip("DescribeSubnets", "there is no subnet in %s, but in %s", strings.Join(spec.Zones, " or "), strings.Join(zones, ", "))
	}
	var tries []try
	for _, machineType := range spec.Types() {
		for _, zone := range picked {
			if slices.Contains(s.offered[machineType], zone) {
				tries = append(tries, try{machineType, at[zone]})
			}
		}
	}
	if len(tries) == 0 {
		return nil, r.skip("DescribeInstanceTypeOfferings", "no zone of %s offers %s", strings.Join(picked, ", "), alternatives(spec.Types()))
	}
	return tries, nil
}

// site is what a region needs before its machine.
type site struct {
	images  map[string]string      // by architecture
	image   string                 // of the machine type that is tried
	groups  [1 + peerGroups]string // ids: SSH's, then the peers'
	network                        // its VPC
	table   string                 // of a VPC of the run's own: the subnets' way out
	places  []place
	offered map[string][]string // zones by machine type
	there   *types.Instance     // an earlier process made it
}

// prepare does everything that does not depend on each other at once: a far
// region's round trips add up.
func (r *region) prepare(ctx context.Context, spec providers.Spec) (site, error) {
	var s site
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { s.images, err = r.images(ctx, spec.Types()); return err })
	g.Go(func() (err error) { s.offered, err = r.offers(ctx, spec.Types()); return err })
	g.Go(func() error { return r.importKey(ctx, spec) })
	if spec.Adopt {
		g.Go(func() (err error) { s.there, err = r.find(ctx, spec); return err })
	}
	g.Go(func() (err error) {
		if s.network, err = r.network(ctx, spec); err == nil {
			r.furnish(ctx, g, spec, &s)
		}
		return err
	})
	err := g.Wait()
	if s.own {
		s.places = plots(r.name, s.offered)
	}
	return s, err
}

// furnish begins what needs the VPC: the machine's groups and, for its subnet,
// where there is one or what one needs.
func (r *region) furnish(ctx context.Context, g *errgroup.Group, spec providers.Spec, s *site) {
	if s.own {
		g.Go(func() (err error) { s.table, err = r.wayOut(ctx, spec, s.network); return err })
	} else {
		g.Go(func() (err error) { s.places, err = r.places(ctx, s.vpc, spec.Network); return err })
	}
	g.Go(func() (err error) { s.groups[0], err = r.sshGroup(ctx, spec, s.vpc); return err })
	for n := range peerGroups {
		g.Go(func() (err error) {
			s.groups[1+n], _, err = r.ensureGroup(ctx, spec.Run, s.vpc, peerGroup(spec.Run.ID, n))
			return err
		})
	}
}

func (r *region) sshGroup(ctx context.Context, spec providers.Spec, vpc string) (string, error) {
	id, made, err := r.ensureGroup(ctx, spec.Run, vpc, providers.Name(spec.Run.ID))
	if err != nil {
		return "", err
	}
	from := rule{"tcp", sshPort, spec.SSHFrom.Unmap()}
	if err := r.authorize(ctx, id, from); err != nil || made {
		return id, err
	}
	return id, r.revokeAllBut(ctx, id, from)
}

// launchAt starts the machine in one zone and waits for its address.
func (r *region) launchAt(ctx context.Context, spec providers.Spec, s site, at place, m *providers.Machine) (err error) {
	if s.own {
		if at.subnet, err = r.subnetIn(ctx, spec, s, at.zone); err != nil {
			return err
		}
	}
	id, err := r.start(ctx, spec, s, at)
	if err != nil {
		return err
	}
	return r.settle(ctx, id, m)
}

// settle waits until the machine has its addresses.
func (r *region) settle(ctx context.Context, id string, m *providers.Machine) error {
	m.ID = id
	instance, err := r.await(ctx, id)
	if err != nil {
		return err
	}
	if m.IPv6, err = ipv6Of(instance); err != nil {
		return err
	}
	m.Spot = instance.InstanceLifecycle == types.InstanceLifecycleTypeSpot
	m.Public, err = netip.ParseAddr(aws.ToString(instance.PublicIpAddress))
	if err != nil {
		return fmt.Errorf("public address of %s: %w", id, err)
	}
	m.Private, err = netip.ParseAddr(aws.ToString(instance.PrivateIpAddress))
	if err != nil {
		return fmt.Errorf("private address of %s: %w", id, err)
	}
	return nil
}

// start calls RunInstances with a token, so that a repeat gives the same
// machine; if that one has ended meanwhile, the next token gives a new one.
func (r *region) start(ctx context.Context, spec providers.Spec, s site, at place) (string, error) {
	var err error
	for life := range 3 {
		var out *ec2.RunInstancesOutput
		err = r.eventually(ctx, "key and group of the new machine", func(ctx context.Context) (err error) {
			out, err = ask(ctx, r, r.ec2.RunInstances, runInput(spec, s, at, token(spec, s, at.zone, life)))
			return err
		})
		if err == nil && len(out.Instances) == 1 {
			return aws.ToString(out.Instances[0].InstanceId), nil
		}
		if err == nil {
			return "", fmt.Errorf("RunInstances gave %d machines, want 1", len(out.Instances))
		}
		if code(err) != "IdempotentInstanceTerminated" {
			return "", err
		}
	}
	return "", err
}

// token is the same for the same machine, as RunInstances' ClientToken: 64
// ASCII characters at most. It names the zone, since AWS keeps tokens by zone,
// and the SSH group's id: that is another one after the run was destroyed.
func token(spec providers.Spec, s site, zone string, life int) string {
	what := fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%s\n%d", spec.Run.ID, spec.Region, zone, spec.MachineType, s.groups[0], life)
	if spec.Instead != nil {
		what = append(what, spec.Instead.ID...)
	}
	return tokenOf(what)
}

func tokenOf(what []byte) string {
	sum := sha256.Sum256(what)
	return fmt.Sprintf("antipode-%x", sum[:16])
}

func runInput(spec providers.Spec, s site, at place, token string) *ec2.RunInstancesInput {
	document := userData(spec.Run.Expires, spec.HostKeyPEM, spec.HostKey)
	return &ec2.RunInstancesInput{
		ClientToken:  aws.String(token),
		ImageId:      aws.String(s.image),
		InstanceType: types.InstanceType(spec.MachineType),
		MinCount:     aws.Int32(1),
		MaxCount:     aws.Int32(1),
		KeyName:      aws.String(providers.Name(spec.Run.ID)),
		UserData:     aws.String(base64.StdEncoding.EncodeToString([]byte(document))),
		// A power-off ends the machine: its own timer is its death.
		InstanceInitiatedShutdownBehavior: types.ShutdownBehaviorTerminate,
		InstanceMarketOptions:             market(spec.Spot),
		CreditSpecification:               credits(spec.MachineType),
		MetadataOptions:                   &types.InstanceMetadataOptionsRequest{HttpTokens: types.HttpTokensStateRequired},
		NetworkInterfaces: []types.InstanceNetworkInterfaceSpecification{{
			DeviceIndex:              aws.Int32(0),
			SubnetId:                 aws.String(at.subnet),
			Groups:                   s.groups[:],
			AssociatePublicIpAddress: aws.Bool(true), // whatever the subnet's own setting
			Ipv6AddressCount:         ipv6Count(spec),
			DeleteOnTermination:      aws.Bool(true),
		}},
		BlockDeviceMappings: []types.BlockDeviceMapping{{
			DeviceName: aws.String(rootDevice),
			Ebs: &types.EbsBlockDevice{
				DeleteOnTermination: aws.Bool(true),
				VolumeType:          types.VolumeTypeGp3, // of the image's size
			},
		}},
		TagSpecifications: tagged(spec.Run, made(spec)...),
	}
}

// made are the kinds of what RunInstances makes.
func made(spec providers.Spec) []types.ResourceType {
	kinds := []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeNetworkInterface}
	if spec.Spot {
		kinds = append(kinds, types.ResourceTypeSpotInstancesRequest)
	}
	return kinds
}

// market asks for a spot machine that comes once, at up to the ordinary price,
// and ends when it is taken away.
func market(spot bool) *types.InstanceMarketOptionsRequest {
	if !spot {
		return nil
	}
	return &types.InstanceMarketOptionsRequest{
		MarketType: types.MarketTypeSpot,
		SpotOptions: &types.SpotMarketOptions{
			SpotInstanceType:             types.SpotInstanceTypeOneTime,
			InstanceInterruptionBehavior: types.InstanceInterruptionBehaviorTerminate,
		},
	}
}

// await polls until the machine runs and has a public address.
func (r *region) await(ctx context.Context, id string) (types.Instance, error) {
	var m types.Instance
	err := providers.Poll(ctx, launchLimit, providers.Steady(), "machine "+id, func(ctx context.Context) (bool, error) {
		out, err := ask(ctx, r, r.ec2.DescribeInstances, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		if providers.KindOf(err) == providers.NotFound {
			return false, nil
		}
		if err != nil || len(out.Reservations) == 0 || len(out.Reservations[0].Instances) == 0 {
			return false, err
		}
		m = out.Reservations[0].Instances[0]
		return r.ready(m)
	})
	return m, err
}

// spotTaken is why a machine has ended whose capacity others pay more for.
const spotTaken = "Server.SpotInstanceTermination"

// ready says whether the machine can be reached, and why it never will be.
func (r *region) ready(m types.Instance) (bool, error) {
	if m.State == nil {
		return false, nil
	}
	switch m.State.Name {
	case types.InstanceStateNamePending:
		return false, nil
	case types.InstanceStateNameRunning:
		return aws.ToString(m.PublicIpAddress) != "", nil
	}
	reason := types.StateReason{}
	if m.StateReason != nil {
		reason = *m.StateReason
	}
	kind := providers.Unknown
	switch aws.ToString(reason.Code) {
	case "Server.InsufficientInstanceCapacity", "Server.InternalError", spotTaken:
		kind = providers.Capacity
	}
	return false, &providers.Error{Op: "RunInstances", Cloud: Cloud, Region: r.name, Kind: kind,
		Err: fmt.Errorf("machine %s is %s: %s %s", aws.ToString(m.InstanceId), m.State.Name,
			aws.ToString(reason.Code), aws.ToString(reason.Message))}
}
