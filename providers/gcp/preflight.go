package gcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cloud.google.com/go/compute/apiv1/computepb"
	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/providers"
)

var _ providers.Preflighter = (*Provider)(nil)

// regionsAtOnce bounds the calls in flight: a project may make about 20 a second.
const regionsAtOnce = 20

// Preflight asks about the project, the machine types and every region at once.
// Organisation policies are not to be asked for without rights of their own:
// they show when a machine is made.
func (p *Provider) Preflight(ctx context.Context, w providers.Wanted) providers.Preflight {
	answer := providers.Preflight{Cloud: Cloud, Account: p.project, Regions: make([]providers.RegionPreflight, len(w.Regions))}
	offers := make([]offer, len(w.MachineTypes))
	regions, errs := make([]*computepb.Region, len(w.Regions)), make([]error, len(w.Regions))
	var project *computepb.Project
	var notes notes
	var g errgroup.Group
	g.SetLimit(regionsAtOnce)
	g.Go(func() (_ error) { project = p.aboutProject(ctx, w, &notes); return })
	g.Go(func() (_ error) { p.aboutPermissions(ctx, w, &notes); return })
	g.Go(func() (_ error) { p.aboutNetwork(ctx, w, &notes); return })
	for i, machineType := range w.MachineTypes {
		g.Go(func() (_ error) { offers[i] = p.offer(ctx, machineType); return })
	}
	for i, name := range w.Regions {
		g.Go(func() (_ error) {
			regions[i], errs[i] = ask(ctx, p, name, "regions.get", p.regions.Get, &computepb.GetRegionRequest{Project: p.project, Region: name})
			return
		})
	}
	_ = g.Wait() // errors are findings
	cpus := 0.0
	for i, name := range w.Regions {
		answer.Regions[i] = aboutRegion(name, regions[i], errs[i], w.Spot, picked(w, offers))
		if err := p.aboutSubnet(ctx, w, name); err != nil {
			answer.Regions[i].Findings = append(answer.Regions[i].Findings, providers.Found(providers.VerdictSkip, err))
		}
		if !w.Spot {
			cpus = max(cpus, cpusOf(offers, answer.Regions[i].MachineType))
		}
	}
	answer.Allowances = allowances(project.GetQuotas(), map[string]float64{"CPUS_ALL_REGIONS": cpus})
	for _, a := range answer.Allowances {
		if a.Room() == 0 {
			notes.add(providers.Finding{Verdict: providers.VerdictRefuse, Reason: short(a)})
		}
	}
	answer.Findings = notes.list
	return answer
}

// picked leaves of offers what is in the zones that are wanted.
func picked(w providers.Wanted, offers []offer) []offer {
	list := slices.Clone(offers)
	for i, o := range list {
		list[i].zones = map[string][]string{}
		for region, zones := range o.zones {
			list[i].zones[region] = w.Pick(region, zones)
		}
	}
	return list
}

// notes collects findings from several goroutines.
type notes struct {
	mu   sync.Mutex
	list []providers.Finding
}

func (n *notes) add(f providers.Finding) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, f)
	slices.SortFunc(n.list, func(a, b providers.Finding) int { return cmp.Compare(a.Reason, b.Reason) })
}

// aboutRegion is what is known of a region, by the first machine type that one
// of its zones offers.
func aboutRegion(name string, r *computepb.Region, err error, spot bool, offers []offer) providers.RegionPreflight {
	about := providers.RegionPreflight{Region: name}
	skip := func(err error) providers.RegionPreflight {
		about.Findings = append(about.Findings, providers.Found(providers.VerdictSkip, err))
		return about
	}
	switch {
	case err != nil:
		return skip(err)
	case r.GetStatus() == "DOWN":
		return skip(barred(name, "regions.get", "the region is down"))
	}
	at := slices.IndexFunc(offers, func(o offer) bool { return len(o.zones[name]) > 0 })
	if at < 0 {
		return skip(nowhere(name, offers))
	}
	o := offers[at]
	about.MachineType, about.Zones = o.machineType, o.zones[name]
	if o.image != nil {
		about.Findings = append(about.Findings, providers.Found(providers.VerdictSkip, o.image))
	}
	takes := map[string]float64{"IN_USE_ADDRESSES": 1}
	if !spot { // spot machines count for other quotas in some projects
		takes[cpuMetric(o.machineType)] = o.cpus
	}
	about.Allowances = allowances(r.GetQuotas(), takes)
	for _, a := range about.Allowances {
		if a.Room() == 0 {
			return skip(barred(name, "regions.get", "%s", short(a)))
		}
	}
	return about
}

// nowhere is why no zone of a region has any of the machine types.
func nowhere(region string, offers []offer) error {
	var names []string
	for _, o := range offers {
		if o.err != nil {
			return o.err
		}
		names = append(names, o.machineType)
	}
	return barred(region, "machineTypes.aggregatedList", "no zone that may be used offers %s", strings.Join(names, " or "))
}

// barred is the error of a region that can't take part.
func barred(region, op, format string, args ...any) error {
	return &providers.Error{Op: op, Cloud: Cloud, Region: region, Kind: providers.Skip, Err: fmt.Errorf(format, args...)}
}

// allowances are those of the quotas that a machine takes something of. One that
// is not told is not known: the newest families have none.
func allowances(quotas []*computepb.Quota, takes map[string]float64) []providers.Allowance {
	var list []providers.Allowance
	for _, q := range quotas {
		if machine := takes[q.GetMetric()]; machine > 0 {
			list = append(list, providers.Allowance{Name: q.GetMetric(), Limit: q.GetLimit(), Used: q.GetUsage(), Machine: machine})
		}
	}
	return list
}

// short says that there is room for no machine.
func short(a providers.Allowance) string {
	return fmt.Sprintf("quota %v, and a machine takes %g: IAM & Admin > Quotas takes requests for more", a, a.Machine)
}

// cpuMetric is the quota that a machine type's processors count for in a
// region: the oldest families share one.
func cpuMetric(machineType string) string {
	family, _, _ := strings.Cut(machineType, "-")
	switch family {
	case "e2", "n1", "f1", "g1":
		return "CPUS"
	}
	return strings.ToUpper(family) + "_CPUS"
}
