package gce

import (
	"context"
	"maps"
	"slices"
	"time"
)

type network struct {
	networkJSON
	created time.Time
	builtin bool // it was there before
	busy    bool // being made or deleted
}

type networkJSON struct {
	meta
	AutoSubnets *bool        `json:"autoCreateSubnetworks,omitempty"`
	Routing     *routingJSON `json:"routingConfig,omitempty"`
	MTU         int          `json:"mtu,omitempty"`
	Subnetworks []string     `json:"subnetworks,omitempty"`
}

type routingJSON struct {
	Mode string `json:"routingMode,omitempty"`
}

func (n *network) auto() bool { return n.AutoSubnets != nil && *n.AutoSubnets }

// addDefaultNetwork makes what every new project has.
func (d *Door) addDefaultNetwork() {
	auto := true
	n := &network{builtin: true, networkJSON: networkJSON{AutoSubnets: &auto, MTU: 1460}}
	n.meta, n.created = d.newMeta("network", "default", "Default network for the project", "global", "networks", "default")
	d.networks[n.Name] = n
	d.addAutoSubnetworks(n)
	for name, allowed := range map[string]allowedJSON{
		"default-allow-icmp":     {Protocol: "icmp"},
		"default-allow-ssh":      {Protocol: "tcp", Ports: []string{"22"}},
		"default-allow-rdp":      {Protocol: "tcp", Ports: []string{"3389"}},
		"default-allow-internal": {Protocol: "all"},
	} {
		f := &firewall{builtin: true, firewallJSON: firewallJSON{Network: n.SelfLink, Direction: "INGRESS", Priority: new(int),
			Sources: []string{"0.0.0.0/0"}, Allowed: []allowedJSON{allowed}}}
		*f.Priority = 65534
		if name == "default-allow-internal" {
			f.Sources = []string{"10.128.0.0/9"}
		}
		f.meta, f.created = d.newMeta("firewall", name, "", "global", "firewalls", name)
		d.firewalls[name] = f
	}
}

func (q *request) insertNetwork() (any, error) {
	var in networkJSON
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if err := checkName(in.Name); err != nil {
		return nil, err
	}
	d := q.door
	switch path := d.path("global", "networks", in.Name); {
	case d.networks[in.Name] != nil:
		return nil, alreadyExists(path)
	case in.AutoSubnets == nil:
		return nil, invalidField("resource.autoCreateSubnetworks", "", "Legacy networks can no longer be created.")
	case in.MTU != 0 && (in.MTU < 1300 || in.MTU > 8896):
		return nil, invalidField("resource.mtu", in.MTU, "Must be between 1300 and 8896.")
	}
	n := &network{busy: true, networkJSON: networkJSON{AutoSubnets: in.AutoSubnets, Routing: in.Routing, MTU: in.MTU}}
	n.meta, n.created = d.newMeta("network", in.Name, in.About, "global", "networks", in.Name)
	d.networks[n.Name] = n
	if n.auto() {
		d.addAutoSubnetworks(n)
	}
	return q.operate("insert", n.meta, d.ready(&n.busy)), nil
}

// ready is the work of an operation after which something can be used.
func (d *Door) ready(busy *bool) func(context.Context) *flop {
	return func(context.Context) *flop {
		d.mu.Lock()
		defer d.mu.Unlock()
		*busy = false
		return nil
	}
}

func (q *request) network() (*network, error) {
	if n := q.door.networks[q.PathValue("name")]; n != nil {
		return n, nil
	}
	return nil, notFound(q.door.path("global", "networks", q.PathValue("name")))
}

// networkAt finds the network that a field names; it must be ready to use.
func (d *Door) networkAt(field, link string) (*network, error) {
	name, owner := parseLink(link)["networks"], d.owner(link)
	path := owner.path("global", "networks", name)
	n := owner.networks[name]
	switch {
	case name == "":
		return nil, invalidField(field, link, "The URL is malformed.")
	case n == nil:
		return nil, notFound(path)
	case n.busy:
		return nil, notReady(path)
	}
	return n, nil
}

func (q *request) getNetwork() (any, error) {
	n, err := q.network()
	if err != nil {
		return nil, err
	}
	return q.door.networkJSON(n), nil
}

func (d *Door) networkJSON(n *network) networkJSON {
	out := n.networkJSON
	for _, key := range slices.Sorted(maps.Keys(d.subnetworks)) {
		if s := d.subnetworks[key]; s.Network == n.SelfLink {
			out.Subnetworks = append(out.Subnetworks, s.SelfLink)
		}
	}
	return out
}

func (q *request) listNetworks() (any, error) {
	var all []entry
	for _, name := range slices.Sorted(maps.Keys(q.door.networks)) {
		all = append(all, entry{value: q.door.networkJSON(q.door.networks[name])})
	}
	return q.list("networkList", all)
}

func (q *request) deleteNetwork() (any, error) {
	n, err := q.network()
	if err != nil {
		return nil, err
	}
	d := q.door
	path := d.path("global", "networks", n.Name)
	if n.busy {
		return nil, notReady(path)
	}
	if by := d.networkUser(n); by != "" {
		return nil, inUse(path, by)
	}
	n.busy = true
	return q.operate("delete", n.meta, func(context.Context) *flop {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.networks, n.Name)
		maps.DeleteFunc(d.subnetworks, func(_ string, s *subnetwork) bool { return s.Network == n.SelfLink })
		return nil
	}), nil
}

// networkUser is what keeps a network from being deleted, empty when nothing does.
func (d *Door) networkUser(n *network) string {
	for _, i := range d.instances {
		if i.Interfaces[0].Network == n.SelfLink {
			return d.path("zones", i.zone, "instances", i.Name)
		}
	}
	for _, f := range d.firewalls {
		if f.Network == n.SelfLink {
			return d.path("global", "firewalls", f.Name)
		}
	}
	for _, s := range d.subnetworks {
		if s.Network == n.SelfLink && !s.auto {
			return d.path("regions", s.region, "subnetworks", s.Name)
		}
	}
	return ""
}
