package gcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"golang.org/x/sync/errgroup"
	"google.golang.org/api/iterator"

	"github.com/antipode-bench/antipode/providers"
)

// List asks for the instances, disks and subnets of all regions at once, and
// for the rules and networks, which are global.
func (p *Provider) List(ctx context.Context, runID string, regions []string) ([]providers.Resource, error) {
	parts := []func() ([]providers.Resource, error){
		func() ([]providers.Resource, error) { return p.listInstances(ctx, runID, regions) },
		func() ([]providers.Resource, error) { return p.listDisks(ctx, runID, regions) },
		func() ([]providers.Resource, error) { return p.listSubnets(ctx, runID, regions) },
		func() ([]providers.Resource, error) { return p.listRules(ctx, runID) },
		func() ([]providers.Resource, error) { return p.listNetworks(ctx, runID) },
	}
	found := make([][]providers.Resource, len(parts))
	errs := make([]error, len(parts))
	var g errgroup.Group
	for i, part := range parts {
		g.Go(func() error {
			found[i], errs[i] = part()
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs: one list's must not hide another
	all := slices.Concat(found...)
	return slices.DeleteFunc(all, func(r providers.Resource) bool { return !named(r) }), errors.Join(errs...)
}

// scoped is what an aggregated list says of one zone or region.
type scoped struct {
	scope   string
	warning *computepb.Warning
	items   []providers.Resource
}

func (p *Provider) listInstances(ctx context.Context, runID string, regions []string) ([]providers.Resource, error) {
	return p.aggregate(ctx, regions, "instances.aggregatedList", func(ctx context.Context) (answer, error) {
		it := p.instances.AggregatedList(ctx, &computepb.AggregatedListInstancesRequest{
			Project: p.project, Filter: new(labelFilter(runID))}, once)
		return read(it, &it.Response, func(pair compute.InstancesScopedListPair) scoped {
			s := scoped{scope: pair.Key, warning: pair.Value.GetWarning()}
			for _, i := range pair.Value.GetInstances() {
				if matches(i.GetLabels(), runID) {
					s.items = append(s.items, labelled(providers.Instance, i.GetName(), i.GetZone(), i.GetStatus(), i.GetLabels()))
				}
			}
			return s
		})
	})
}

func (p *Provider) listDisks(ctx context.Context, runID string, regions []string) ([]providers.Resource, error) {
	return p.aggregate(ctx, regions, "disks.aggregatedList", func(ctx context.Context) (answer, error) {
		it := p.disks.AggregatedList(ctx, &computepb.AggregatedListDisksRequest{
			Project: p.project, Filter: new(labelFilter(runID))}, once)
		return read(it, &it.Response, func(pair compute.DisksScopedListPair) scoped {
			s := scoped{scope: pair.Key, warning: pair.Value.GetWarning()}
			for _, d := range pair.Value.GetDisks() {
				if matches(d.GetLabels(), runID) {
					s.items = append(s.items, labelled(providers.Disk, d.GetName(), d.GetZone(), d.GetStatus(), d.GetLabels()))
				}
			}
			return s
		})
	})
}

func (p *Provider) listSubnets(ctx context.Context, runID string, regions []string) ([]providers.Resource, error) {
	return p.aggregate(ctx, regions, "subnetworks.aggregatedList", func(ctx context.Context) (answer, error) {
		it := p.subnets.AggregatedList(ctx, &computepb.AggregatedListSubnetworksRequest{Project: p.project}, once)
		return read(it, &it.Response, func(pair compute.SubnetworksScopedListPair) scoped {
			s := scoped{scope: pair.Key, warning: pair.Value.GetWarning()}
			for _, n := range pair.Value.GetSubnetworks() {
				if matches(described(n.GetDescription()), runID) {
					res := unlabelled(providers.Subnet, n.GetName(), n.GetDescription())
					res.Region = last(n.GetRegion())
					s.items = append(s.items, res)
				}
			}
			return s
		})
	})
}

// answer is an aggregated list, read to its end.
type answer struct {
	scopes      []scoped
	unreachable []string // scopes
}

// read reads an aggregated list. response is the iterator's, which says more of
// the page than its items do.
func read[Pair any](it interface{ Next() (Pair, error) }, response *any, scope func(Pair) scoped) (a answer, err error) {
	for {
		pair, err := it.Next()
		if page, ok := (*response).(interface{ GetUnreachables() []string }); ok {
			a.unreachable = append(a.unreachable, page.GetUnreachables()...)
		}
		if err != nil {
			return a, unlessDone(err)
		}
		a.scopes = append(a.scopes, scope(pair))
	}
}

// aggregate reads an aggregated list and keeps what is in regions.
func (p *Provider) aggregate(ctx context.Context, regions []string, op string,
	list func(context.Context) (answer, error)) ([]providers.Resource, error) {
	a, err := call(ctx, p, "", op, list)
	if err != nil {
		return nil, err
	}
	return sift(a, regions, op)
}

// sift keeps what is in regions. A zone that did not answer is an error there: what
// it holds is unknown, which is not "nothing".
func sift(a answer, regions []string, op string) ([]providers.Resource, error) {
	var found []providers.Resource
	var errs []error
	unknown := func(scope, why string) {
		errs = append(errs, &providers.Error{Op: op, Cloud: Cloud, Region: regionOfScope(scope), Kind: providers.Temporary,
			Err: fmt.Errorf("%s: %s", last(scope), why)})
	}
	wanted := func(scope string) bool { return slices.Contains(regions, regionOfScope(scope)) }
	for _, scope := range slices.Compact(slices.Sorted(slices.Values(a.unreachable))) {
		if wanted(scope) {
			unknown(scope, "unreachable")
		}
	}
	for _, s := range a.scopes {
		if !wanted(s.scope) {
			continue
		}
		found = append(found, s.items...)
		if code := s.warning.GetCode(); code != "" && code != "NO_RESULTS_ON_PAGE" {
			unknown(s.scope, code+": "+s.warning.GetMessage())
		}
	}
	return found, errors.Join(errs...)
}

func labelFilter(runID string) string {
	if runID == "" {
		return "labels." + providers.TagRun + ":*"
	}
	return fmt.Sprintf("labels.%s=%s", providers.TagRun, runID)
}

func labelled(kind, name, zone, state string, labels map[string]string) providers.Resource {
	return providers.Resource{Cloud: Cloud, Region: regionOf(last(zone)), Zone: last(zone), Kind: kind, ID: name,
		RunID: labels[providers.TagRun], State: state, Expires: expiry(labels)}
}

func (p *Provider) listNetworks(ctx context.Context, runID string) ([]providers.Resource, error) {
	networks, err := call(ctx, p, "", "networks.list", func(ctx context.Context) ([]*computepb.Network, error) {
		return collect(p.nets.List(ctx, &computepb.ListNetworksRequest{Project: p.project}, once),
			func(n *computepb.Network) bool { return matches(described(n.GetDescription()), runID) })
	})
	var list []providers.Resource
	for _, n := range networks {
		list = append(list, unlabelled(providers.Network, n.GetName(), n.GetDescription()))
	}
	return list, err
}

// unlabelled is what has only a description to say whose it is.
func unlabelled(kind, name, description string) providers.Resource {
	labels := described(description)
	return providers.Resource{Cloud: Cloud, Kind: kind, ID: name, RunID: labels[providers.TagRun], Expires: expiry(labels)}
}

// collect reads a list to its end and keeps what is wanted. Such a list is
// filtered here: a description is too free a text for the API's filters.
func collect[T any](it interface{ Next() (T, error) }, want func(T) bool) ([]T, error) {
	var list []T
	for {
		item, err := it.Next()
		if err != nil {
			return list, unlessDone(err)
		}
		if want(item) {
			list = append(list, item)
		}
	}
}

func unlessDone(err error) error {
	if errors.Is(err, iterator.Done) {
		return nil
	}
	return err
}
