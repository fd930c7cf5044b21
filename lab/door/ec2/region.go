package ec2

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door/inventory"
)

// region is one region's whole state. Its lock is held for a moment only, never
// while a machine starts or stops; of other locks only the rack's own is taken under it.
type region struct {
	door      *Door
	name      string
	partition string // "aws", "aws-cn", …
	optIn     bool
	zones     []zone
	home      *vpc // that came with the account

	mu         sync.Mutex
	instances  map[string]*instance
	volumes    map[string]*volume
	vpcs       map[string]*vpc
	subnets    map[string]*subnet
	gateways   map[string]*gateway
	tables     map[string]*routeTable
	groups     map[string]*group
	keys       map[string]*keyPair        // by name
	placements map[string]*placementGroup // by name
	launches   map[string]*launch         // by client token and zone
}

func newRegion(d *Door, r antipode.Region) *region {
	reg := &region{
		door: d, name: r.Name, optIn: r.OptIn, partition: cmp.Or(r.Partition, "aws"),
		instances:  map[string]*instance{},
		volumes:    map[string]*volume{},
		vpcs:       map[string]*vpc{},
		subnets:    map[string]*subnet{},
		gateways:   map[string]*gateway{},
		tables:     map[string]*routeTable{},
		groups:     map[string]*group{},
		keys:       map[string]*keyPair{},
		placements: map[string]*placementGroup{},
		launches:   map[string]*launch{},
	}
	for i, letter := range zoneLetters(r.Name) {
		reg.zones = append(reg.zones, zone{r.Name + letter, zoneID(r.Name, i+1)})
	}
	reg.addHome()
	return reg
}

// resource is what all things in a region have.
type resource struct {
	id      string
	created time.Time
	visible time.Time // reads before this don't find it
	tags    tags
}

func (r *resource) seen() bool { return !time.Now().Before(r.visible) }

func (r *region) newResource(prefix string, t tags) resource {
	now := time.Now()
	visible := now.Add(r.door.rack.Duration(r.door.rack.Timing.Visible))
	return resource{id: r.door.newID(prefix), created: now, visible: visible, tags: t}
}

// purge forgets instances that have been shown long enough.
func (r *region) purge() {
	maps.DeleteFunc(r.instances, func(_ string, i *instance) bool {
		return i.state == terminated && time.Since(i.ended) > r.door.rack.Timing.Linger
	})
}

// byAge returns the visible ones, oldest first.
func byAge[T any](all map[string]T, of func(T) *resource) []T {
	var list []T
	for _, item := range all {
		if of(item).seen() {
			list = append(list, item)
		}
	}
	slices.SortFunc(list, func(a, b T) int {
		x, y := of(a), of(b)
		return cmp.Or(x.created.Compare(y.created), cmp.Compare(x.id, y.id))
	})
	return list
}

// tags are a resource's tags.
type tags map[string]string

// tagSpec is one TagSpecification: tags for a type of resource.
type tagSpec struct {
	ResourceType string
	Tag          []tag
}

type tag struct {
	Key   string `form:",required" xml:"key"`
	Value string `xml:"value"`
}

const maxTags = 50

// tagsFor returns the tags that specs hold for a type, and refuses types that
// are not among the allowed.
func tagsFor(specs []tagSpec, resourceType string, allowed ...string) (tags, error) {
	t := tags{}
	for _, s := range specs {
		if s.ResourceType != resourceType && !slices.Contains(allowed, s.ResourceType) {
			return nil, invalidValue("TagSpecification.ResourceType", s.ResourceType)
		}
		if s.ResourceType == resourceType {
			if err := t.add(s.Tag); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func (t tags) add(more []tag) error {
	for _, m := range more {
		switch {
		case m.Key == "" || len(m.Key) > 128 || len(m.Value) > 256:
			return invalidValue("Tag", m.Key+"="+m.Value)
		case strings.HasPrefix(strings.ToLower(m.Key), "aws:"):
			return bad("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		}
		t[m.Key] = m.Value
	}
	if len(t) > maxTags {
		return bad("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
	}
	return nil
}

// list is the tags as answers have them.
func (t tags) list() []tag {
	var l []tag
	for _, k := range slices.Sorted(maps.Keys(t)) {
		l = append(l, tag{k, t[k]})
	}
	return l
}

type createTagsInput struct {
	ResourceID []string `form:"ResourceId,required"`
	Tag        []tag
}

type okAnswer struct {
	reply
	Return bool `xml:"return"`
}

func (r *region) createTags(_ *call, in *createTagsInput) (*okAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*resource
	for _, id := range in.ResourceID {
		res := r.find(id)
		if res == nil {
			return nil, bad("InvalidID", "The ID '%s' is not valid", id)
		}
		all = append(all, res)
	}
	for _, res := range all {
		t := maps.Clone(res.tags)
		if t == nil {
			t = tags{}
		}
		if err := t.add(in.Tag); err != nil {
			return nil, err
		}
		res.tags = t
	}
	return &okAnswer{Return: true}, nil
}

func (r *region) find(id string) *resource {
	if i := r.instances[id]; i != nil {
		return &i.resource
	}
	if v := r.volumes[id]; v != nil {
		return &v.resource
	}
	if g := r.groups[id]; g != nil {
		return &g.resource
	}
	if v := r.vpcs[id]; v != nil {
		return &v.resource
	}
	if s := r.subnets[id]; s != nil {
		return &s.resource
	}
	if g := r.gateways[id]; g != nil {
		return &g.resource
	}
	if t := r.tables[id]; t != nil {
		return &t.resource
	}
	for _, k := range r.keys {
		if k.id == id {
			return &k.resource
		}
	}
	return nil
}

func (r *region) item(kind string, res *resource) inventory.Item {
	return inventory.Item{Cloud: "aws", Region: r.name, Kind: kind, ID: res.id, Tags: maps.Clone(res.tags), Created: res.created}
}

// inventory lists what exists in the region.
func (r *region) inventory() inventory.List {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.purge()
	list := r.networkInventory()
	for _, i := range r.instances {
		it := r.item(inventory.Instance, &i.resource)
		it.Zone, it.Type, it.State, it.Warnings = i.subnet.zone.name, i.machineType, i.state.name, i.warnings
		it.Public, it.Private = i.addrs.Public, i.addrs.Private
		list = append(list, it)
	}
	for _, v := range r.volumes {
		it := r.item(inventory.Disk, &v.resource)
		it.Zone, it.State = v.zone, v.state()
		list = append(list, it)
	}
	for _, g := range r.groups {
		if !g.isDefault() {
			it := r.item(inventory.Group, &g.resource)
			it.Name = g.name
			list = append(list, it)
		}
	}
	for _, p := range r.placements {
		it := r.item(inventory.PlacementGroup, &p.resource)
		it.Name = p.name
		list = append(list, it)
	}
	for _, k := range r.keys {
		it := r.item(inventory.KeyPair, &k.resource)
		it.Name = k.name
		list = append(list, it)
	}
	return list
}
