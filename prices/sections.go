package prices

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"
)

// section is one of a file's lists, with the keys of its items.
type section struct {
	name               string
	required, optional string
	take               func(*yaml.Node)
}

// sections are all there are, in the order in which they need each other.
func (r *reader) sections() []section {
	return []section{
		{"sources", "id what", "date unverified", r.source},
		{"bounds", "elsewhere", "source", r.bounds},
		{"machines", "cloud type usd_per_hour", "region source", r.machine},
		{"disks", "cloud gib usd_per_gib_month", "region source", r.disk},
		{"addresses", "cloud usd_per_hour", "source", r.address},
		{"within_region", "cloud usd", "source", r.withinRegion},
		{"aws_egress", "region to_aws to_internet", "source", r.awsRegion},
		{"aws_egress_pairs", "from to usd", "source", r.awsPair},
		{"gcp_places", "prefix place", "", r.gcpPrefix},
		{"gcp_egress", "from to", "source", r.gcpRow},
		{"gcp_premium", "to usd", "source", r.premium},
		{"gcp_standard", "from usd", "source", r.standard},
	}
}

func (r *reader) source(n *yaml.Node) {
	if s, ok := load[Source](r, n); ok && r.once(n, "source", s.ID) {
		r.sources[s.ID] = s
	}
}

type boundsItem struct {
	Elsewhere float64 `yaml:"elsewhere"`
	Source    string  `yaml:"source"`
}

func (i boundsItem) check() error {
	if !(i.Elsewhere >= 1 && i.Elsewhere <= 100) {
		return fmt.Errorf("elsewhere %v: want 1 to 100", i.Elsewhere)
	}
	return nil
}

func (r *reader) bounds(n *yaml.Node) {
	if i, ok := load[boundsItem](r, n); ok && r.once(n, "bounds") {
		r.price(n, 0, 1, i.Source)
		r.elsewhere = i.Elsewhere
	}
}

// hourly is an item of machines, disks and addresses.
type hourly struct {
	Cloud  string  `yaml:"cloud"`
	Type   string  `yaml:"type"`
	Region string  `yaml:"region"`
	USD    float64 `yaml:"usd_per_hour"`
	GiB    float64 `yaml:"gib"`
	Month  float64 `yaml:"usd_per_gib_month"`
	Source string  `yaml:"source"`
}

func (i hourly) check() error {
	var names []string
	for _, name := range []string{i.Type, i.Region} {
		if name != "" {
			names = append(names, name)
		}
	}
	return errors.Join(checkCloud(i.Cloud), checkNames(names...), checkUSD(i.USD), checkUSD(i.GiB), checkUSD(i.Month))
}

// machine without a region replaces the prices of all regions that other files
// have, as disk does.
func (r *reader) machine(n *yaml.Node) {
	i, ok := load[hourly](r, n)
	switch {
	case !ok: // said already
	case i.Type == "":
		r.Errorf(n.Line, "a machine's type is empty")
	case r.once(n, "machine", i.Cloud, i.Type, i.Region):
		if i.Region == "" {
			maps.DeleteFunc(r.machines, func(m machine, _ Price) bool {
				return m.cloud == i.Cloud && m.name == i.Type && !r.had("machine", m.cloud, m.name, m.region)
			})
		}
		r.machines[machine{place{i.Cloud, i.Region}, i.Type}] = r.price(n, i.USD, Hour, i.Source)
	}
}

func (r *reader) disk(n *yaml.Node) {
	if i, ok := load[hourly](r, n); ok && r.once(n, "disk", i.Cloud, i.Region) {
		if i.Region == "" {
			maps.DeleteFunc(r.disks, func(p place, _ Price) bool { return p.cloud == i.Cloud && !r.had("disk", p.cloud, p.region) })
		}
		r.disks[place{i.Cloud, i.Region}] = r.price(n, i.GiB*i.Month/hoursOfMonth, Hour, i.Source)
	}
}

func (r *reader) address(n *yaml.Node) {
	if i, ok := load[hourly](r, n); ok && r.once(n, "address", i.Cloud) {
		r.addresses[i.Cloud] = r.price(n, i.USD, Hour, i.Source)
	}
}

type withinItem struct {
	Cloud  string  `yaml:"cloud"`
	USD    float64 `yaml:"usd"`
	Source string  `yaml:"source"`
}

func (i withinItem) check() error { return errors.Join(checkCloud(i.Cloud), checkUSD(i.USD)) }

func (r *reader) withinRegion(n *yaml.Node) {
	if i, ok := load[withinItem](r, n); ok && r.once(n, "within_region", i.Cloud) {
		r.within[i.Cloud] = r.price(n, i.USD, per(i.Cloud), i.Source)
	}
}

// per is the bytes that a cloud's prices of data are for.
func per(cloud string) float64 {
	if cloud == "gcp" {
		return GiB
	}
	return GB
}

type awsItem struct {
	Region     string  `yaml:"region"`
	ToAWS      float64 `yaml:"to_aws"`
	ToInternet float64 `yaml:"to_internet"`
	Source     string  `yaml:"source"`
}

func (i awsItem) check() error {
	return errors.Join(checkNames(i.Region), checkUSD(i.ToAWS), checkUSD(i.ToInternet))
}

func (r *reader) awsRegion(n *yaml.Node) {
	if i, ok := load[awsItem](r, n); ok && r.once(n, "aws_egress", i.Region) {
		r.awsToAWS[i.Region] = r.price(n, i.ToAWS, GB, i.Source)
		r.awsToInternet[i.Region] = r.price(n, i.ToInternet, GB, i.Source)
	}
}

// data is the price of an item that has one for all its bytes.
type data struct {
	From   string  `yaml:"from"`
	To     string  `yaml:"to"`
	USD    float64 `yaml:"usd"`
	Source string  `yaml:"source"`
}

func (i data) check() error { return errors.Join(checkNames(i.From+i.To), checkUSD(i.USD)) }

func (r *reader) awsPair(n *yaml.Node) {
	if i, ok := load[data](r, n); ok && r.once(n, "aws_egress_pairs", i.From, i.To) {
		r.awsPairs[[2]string{i.From, i.To}] = r.price(n, i.USD, GB, i.Source)
	}
}

func (r *reader) premium(n *yaml.Node) {
	i, ok := load[data](r, n)
	switch {
	case !ok: // said already
	case i.To != world && i.To != australia && i.To != china:
		r.Errorf(n.Line, "destination %q is not %s, %s or %s", i.To, world, australia, china)
	case r.once(n, "gcp_premium", i.To):
		r.gcpPremium[i.To] = r.price(n, i.USD, GiB, i.Source)
	}
}

func (r *reader) standard(n *yaml.Node) {
	if i, ok := load[data](r, n); ok && r.once(n, "gcp_standard", i.From) && r.known(n, i.From) {
		r.gcpStandard[i.From] = r.price(n, i.USD, GiB, i.Source)
	}
}

type prefixItem struct {
	Prefix string `yaml:"prefix"`
	Place  string `yaml:"place"`
}

func (i prefixItem) check() error { return checkNames(i.Prefix, i.Place) }

func (r *reader) gcpPrefix(n *yaml.Node) {
	if i, ok := load[prefixItem](r, n); ok && r.once(n, "gcp_places", i.Prefix) {
		r.gcpPlaces[i.Prefix] = i.Place
	}
}

type rowItem struct {
	From   string             `yaml:"from"`
	To     map[string]float64 `yaml:"to"`
	Source string             `yaml:"source"`
}

func (i rowItem) check() error {
	errs := []error{checkNames(i.From)}
	for _, to := range slices.Sorted(maps.Keys(i.To)) {
		errs = append(errs, checkUSD(i.To[to]))
	}
	return errors.Join(errs...)
}

func (r *reader) gcpRow(n *yaml.Node) {
	i, ok := load[rowItem](r, n)
	if !ok || !r.once(n, "gcp_egress", i.From) || !r.known(n, i.From) {
		return
	}
	for _, to := range slices.Sorted(maps.Keys(i.To)) {
		if r.known(n, to) {
			r.gcpPairs[[2]string{i.From, to}] = r.price(n, i.To[to], GiB, i.Source)
		}
	}
}

// known is false, and says so, for a geography that no region is in.
func (r *reader) known(n *yaml.Node, place string) bool {
	for _, known := range r.gcpPlaces {
		if known == place {
			return true
		}
	}
	r.Errorf(n.Line, "place %q is not in gcp_places", place)
	return false
}
