package aws

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/antipode-bench/antipode/providers"
)

// survey is the preflight of one region.
type survey struct {
	*region
	wanted providers.Wanted
	own    bool // a VPC is to be made
	places []place

	mu    sync.Mutex // guards found while questions are out
	found *providers.RegionPreflight
}

// run asks what depends on nothing, and then what depends on the machine type
// and its zones, each all at once: a far region's round trips add up.
func (s *survey) run(ctx context.Context) {
	defer func() { // whatever was answered first
		slices.SortFunc(s.found.Findings, func(a, b providers.Finding) int { return strings.Compare(a.Reason, b.Reason) })
	}()
	offered := map[string][]string{}
	s.together(
		func() (err error) { offered, err = s.offers(ctx, s.wanted.MachineTypes); return err },
		func() error { return s.network(ctx) },
		func() error { return s.mayImportKey(ctx) },
	)
	if !s.choose(offered) {
		return
	}
	s.together(
		func() error { return s.quota(ctx) },
		func() error { return s.mayRun(ctx) },
	)
}

// together asks at once. What goes wrong is a finding.
func (s *survey) together(questions ...func() error) {
	var g sync.WaitGroup
	for _, ask := range questions {
		g.Go(func() {
			if err := ask(); err != nil {
				s.note(providers.Found(providers.VerdictSkip, err))
			}
		})
	}
	g.Wait()
}

func (s *survey) note(f providers.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found.Findings = append(s.found.Findings, f)
}

// choose takes the first machine type that has a place, if there is one.
func (s *survey) choose(offered map[string][]string) bool {
	if s.own {
		s.places = plots(s.name, offered)
	}
	if len(s.places) == 0 || len(offered) == 0 {
		return false // said already
	}
	var err error
	if s.places, err = s.speaking(s.places, s.wanted.IPv6); err != nil {
		s.note(providers.Found(providers.VerdictSkip, err))
		return false
	}
	for _, machineType := range s.wanted.MachineTypes {
		s.found.Zones = s.wanted.Pick(s.name, s.zonesWith(offered[machineType]))
		if len(s.found.Zones) > 0 {
			s.found.MachineType = machineType
			return true
		}
	}
	where := "a zone"
	if only := s.wanted.Zones[s.name]; len(only) > 0 {
		where = strings.Join(only, " or ")
	}
	s.note(providers.Found(providers.VerdictSkip, s.skip("DescribeSubnets", "no subnet in %s that offers %s", where, alternatives(s.wanted.MachineTypes))))
	return false
}

// zonesWith leaves of zones those with a place.
func (s *survey) zonesWith(zones []string) []string {
	var list []string
	for _, at := range s.places {
		if slices.Contains(zones, at.zone) {
			list = append(list, at.zone)
		}
	}
	return list
}

// network finds the places, and whether what a machine needs around it may be
// made there.
func (s *survey) network(ctx context.Context) error {
	wish := s.wanted.Networks[s.name]
	if wish != "" {
		vpc, err := s.named(ctx, wish)
		if err != nil {
			return err
		}
		return s.within(ctx, vpc, wish)
	}
	all, err := s.vpcs(ctx)
	if err != nil {
		return err
	}
	if n := among(all, rehearsal.ID); n.vpc != "" {
		return s.within(ctx, n.vpc, "")
	}
	s.withoutVPC(ctx, len(all))
	return nil
}

func (s *survey) within(ctx context.Context, vpc, wish string) error {
	s.together(
		func() (err error) {
			if s.places, err = s.region.places(ctx, vpc, wish); err != nil {
				return err
			}
			return s.leadsOut6(ctx, vpc, s.places)
		},
		func() error { return s.mayCreateGroup(ctx, vpc) },
	)
	return nil
}

// rehearsal is a run that never is.
var rehearsal = providers.Run{ID: "preflight", Expires: time.Unix(0, 0)}

// rehearsalKey is a public key that nobody has the private half of.
const rehearsalKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

func (s *survey) mayImportKey(ctx context.Context) error {
	_, err := ask(ctx, s.region, s.ec2.ImportKeyPair, &ec2.ImportKeyPairInput{
		DryRun:            aws.Bool(true),
		KeyName:           aws.String(providers.Name(rehearsal.ID)),
		PublicKeyMaterial: []byte(rehearsalKey),
		TagSpecifications: tagged(rehearsal, types.ResourceTypeKeyPair),
	})
	return dry(err)
}

func (s *survey) mayCreateGroup(ctx context.Context, vpc string) error {
	in := groupInput(rehearsal, vpc, providers.Name(rehearsal.ID))
	in.DryRun = aws.Bool(true)
	_, err := ask(ctx, s.region, s.ec2.CreateSecurityGroup, in)
	return dry(err)
}

// mayRun looks the image up, and whether a machine of it may be made: without
// key and groups, of which there are none yet. Without a subnet it can't be asked.
func (s *survey) mayRun(ctx context.Context) error {
	image, err := s.image(ctx, s.found.MachineType)
	if err != nil || s.own {
		return err
	}
	spec := providers.Spec{Run: rehearsal, Region: s.name, MachineType: s.found.MachineType, IPv6: s.wanted.IPv6}
	in := runInput(spec, site{image: image}, s.placeIn(s.found.Zones[0]), "")
	in.DryRun, in.ClientToken, in.KeyName, in.UserData = aws.Bool(true), nil, nil, nil
	in.NetworkInterfaces[0].Groups = nil
	_, err = ask(ctx, s.region, s.ec2.RunInstances, in)
	return dry(err)
}

func (s *survey) placeIn(zone string) place {
	return s.places[slices.IndexFunc(s.places, func(at place) bool { return at.zone == zone })]
}

// dry takes the answer of a dry run that would have been done for none.
func dry(err error) error {
	if code(err) == "DryRunOperation" {
		return nil
	}
	return err
}
