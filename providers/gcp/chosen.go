package gcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/antipode-bench/antipode/providers"
)

// Network is one of the user's own, instead of the one that is made for a run.
type Network struct {
	Project string // that shares it with ours (Shared VPC); empty: it is in ours
	Name    string
	Subnet  string // of one region, where the network has several there; may be empty
}

var networkForm = regexp.MustCompile(`^(?:projects/([a-z0-9][-a-z0-9.:]*)/global/networks/)?([a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)(?:/([a-z](?:[-a-z0-9]{0,61}[a-z0-9])?))?$`)

// ParseNetwork reads "NAME" or "projects/HOST/global/networks/NAME", with "/SUBNET"
// behind it or without.
func ParseNetwork(s string) (Network, error) {
	part := networkForm.FindStringSubmatch(s)
	if part == nil {
		return Network{}, errors.New("not of the form NETWORK or projects/HOST/global/networks/NETWORK, nor with /SUBNET behind it")
	}
	return Network{Project: part[1], Name: part[2], Subnet: part[3]}, nil
}

// network is where a run's machines stand.
type network struct{ project, name string }

func (n network) url() string {
	return fmt.Sprintf("projects/%s/global/networks/%s", n.project, n.name)
}

func (n network) subnetURL(region, name string) string {
	return fmt.Sprintf("projects/%s/regions/%s/subnetworks/%s", n.project, region, name)
}

// own is the network that is made for a run.
func (p *Provider) own(runID string) network { return network{p.project, providers.Name(runID)} }

// choose notes which network a run's machines stand in: one for all its regions.
func (p *Provider) choose(runID, wish string) (n network, subnet string, err error) {
	n = p.own(runID)
	if wish != "" {
		chosen, err := ParseNetwork(wish)
		if err != nil {
			return n, "", fmt.Errorf("network %q: %w", wish, err)
		}
		n, subnet = p.located(chosen), chosen.Subnet
	}
	if before, there := p.networks.LoadOrStore(runID, n); there && before != n {
		return n, "", fmt.Errorf("network %s: the run's machines stand in %s, and one run has one network", n.url(), before.(network).url())
	}
	return n, subnet, nil
}

func (p *Provider) located(n Network) network {
	if n.Project == "" {
		n.Project = p.project
	}
	return network{n.Project, n.Name}
}

// networkOf is where a run's machines stand, as far as this process knows.
func (p *Provider) networkOf(runID string) (n network, known bool) {
	if chosen, known := p.networks.Load(runID); known {
		return chosen.(network), true
	}
	return p.own(runID), false
}

// pickSubnet finds the region's subnet of a network that is not the run's: the
// one that was named, or the only one. For IPv6 it must have some.
func (p *Provider) pickSubnet(ctx context.Context, n network, region, name string, ipv6 bool) (string, error) {
	all, err := p.subnetsOf(ctx, n)
	if err != nil {
		return "", err
	}
	found, err := sift(all, []string{region}, "subnetworks.aggregatedList")
	if err != nil {
		return "", err
	}
	var names []string
	for _, r := range found {
		if r.ID == name {
			return name, speaks(r, ipv6)
		}
		names = append(names, r.ID)
	}
	skip := func(format string, args ...any) error {
		return barred(region, "subnetworks.aggregatedList", format, args...)
	}
	switch {
	case name != "":
		return "", skip("network %s has no subnet %s here", n.name, name)
	case len(names) == 0:
		return "", skip("network %s has no subnet here", n.name)
	case len(names) > 1:
		return "", skip("network %s has several subnets here (%s): --network %s:%s=%s/%s takes one",
			n.name, strings.Join(names, ", "), Cloud, region, n.name, names[0])
	}
	return names[0], speaks(found[0], ipv6)
}

// subnetsOf are those of a network in all regions that a machine can stand in, asked for once.
func (p *Provider) subnetsOf(ctx context.Context, n network) (answer, error) {
	if known, ok := p.subnetsIn.Load(n); ok {
		return known.(answer), nil
	}
	var all answer
	err := p.together(ctx, "subnets of "+n.url(), func() (err error) {
		all, err = p.listSubnetsOf(ctx, n)
		if err == nil {
			p.subnetsIn.Store(n, all)
		}
		return err
	})
	if known, ok := p.subnetsIn.Load(n); ok && err == nil {
		all = known.(answer)
	}
	return all, err
}

func (p *Provider) listSubnetsOf(ctx context.Context, n network) (answer, error) {
	return call(ctx, p, "", "subnetworks.aggregatedList", func(ctx context.Context) (answer, error) {
		it := p.subnets.AggregatedList(ctx, &computepb.AggregatedListSubnetworksRequest{Project: n.project}, once)
		return read(it, &it.Response, func(pair compute.SubnetworksScopedListPair) scoped {
			s := scoped{scope: pair.Key, warning: pair.Value.GetWarning()}
			for _, sub := range pair.Value.GetSubnetworks() {
				// Other purposes are those of proxies, which no machine can stand in.
				if strings.HasSuffix(sub.GetNetwork(), "/"+n.url()) && (sub.GetPurpose() == "" || sub.GetPurpose() == "PRIVATE") {
					s.items = append(s.items, providers.Resource{Cloud: Cloud, Region: last(pair.Key), Kind: providers.Subnet, ID: sub.GetName(), State: stackOf(sub)})
				}
			}
			return s
		})
	})
}

// chosenIn is the network that the user has named for all regions, if any.
func chosenIn(w providers.Wanted) (n Network, named bool) {
	for _, region := range w.Regions {
		if n, err := ParseNetwork(w.Networks[region]); err == nil {
			return n, true
		}
	}
	return n, false
}

// aboutNetwork asks whether there is the network that the user has named.
func (p *Provider) aboutNetwork(ctx context.Context, w providers.Wanted, notes *notes) {
	chosen, named := chosenIn(w)
	if !named {
		return
	}
	n := p.located(chosen)
	_, err := ask(ctx, p, "", "networks.get", p.nets.Get, &computepb.GetNetworkRequest{Project: n.project, Network: n.name})
	switch {
	case providers.KindOf(err) == providers.NotFound:
		notes.add(providers.Finding{Verdict: providers.VerdictRefuse, Reason: fmt.Sprintf("there is no network %s in project %s", n.name, n.project)})
	case err != nil:
		notes.add(providers.Found(providers.VerdictWarn, err)) // it may be used without being read
	}
}

// aboutSubnet says why the user's network has no place for a region's machine.
func (p *Provider) aboutSubnet(ctx context.Context, w providers.Wanted, region string) error {
	wish := w.Networks[region]
	if wish == "" {
		return nil
	}
	n, err := ParseNetwork(wish)
	if err != nil {
		return barred(region, "subnetworks.aggregatedList", "network %q: %w", wish, err)
	}
	_, err = p.pickSubnet(ctx, p.located(n), region, n.Subnet, w.IPv6)
	return err
}
