package gcp

import (
	"context"
	"slices"
	"sync"

	"cloud.google.com/go/compute/apiv1/computepb"
)

// offer is where a machine type can be had.
type offer struct {
	machineType string
	cpus        float64
	zones       map[string][]string // by region, sorted
	err         error               // why the zones are not known
	image       error               // why there is no image for it
}

// offer looks a machine type and its image up.
func (p *Provider) offer(ctx context.Context, machineType string) offer {
	o := offer{machineType: machineType, zones: map[string][]string{}}
	var g sync.WaitGroup
	g.Go(func() { o.image = p.findImage(ctx, machineType) })
	var found []*computepb.MachineType
	found, o.err = p.machineTypes(ctx, machineType)
	g.Wait()
	for _, t := range found {
		region := regionOf(last(t.GetZone()))
		o.zones[region] = append(o.zones[region], last(t.GetZone()))
		o.cpus = float64(t.GetGuestCpus())
	}
	for _, zones := range o.zones {
		slices.Sort(zones)
	}
	return o
}

// machineTypes are those of that name in all zones.
func (p *Provider) machineTypes(ctx context.Context, name string) ([]*computepb.MachineType, error) {
	return call(ctx, p, "", "machineTypes.aggregatedList", func(ctx context.Context) ([]*computepb.MachineType, error) {
		it := p.types.AggregatedList(ctx, &computepb.AggregatedListMachineTypesRequest{
			Project: p.project, Filter: new("name=" + name)}, once)
		var all []*computepb.MachineType
		for {
			pair, err := it.Next()
			if err != nil {
				return all, unlessDone(err)
			}
			all = append(all, pair.Value.GetMachineTypes()...)
		}
	})
}

func (p *Provider) findImage(ctx context.Context, machineType string) error {
	_, err := ask(ctx, p, "", "images.getFromFamily", p.images.GetFromFamily, &computepb.GetFromFamilyImageRequest{
		Project: imageProject, Family: last(image(machineType))})
	return err
}

func cpusOf(offers []offer, machineType string) float64 {
	for _, o := range offers {
		if o.machineType == machineType {
			return o.cpus
		}
	}
	return 0
}
