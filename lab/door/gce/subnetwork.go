package gce

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
)

type subnetwork struct {
	subnetworkJSON
	region  string
	created time.Time
	auto    bool // it comes and goes with its network
	busy    bool
}

type subnetworkJSON struct {
	meta
	Network   string `json:"network"`
	CIDR      string `json:"ipCidrRange"`
	Region    string `json:"region,omitempty"`
	Purpose   string `json:"purpose,omitempty"`
	StackType string `json:"stackType,omitempty"`
	Private   bool   `json:"privateIpGoogleAccess"`
	Gateway   string `json:"gatewayAddress,omitempty"`

	IPv6Access   string `json:"ipv6AccessType,omitempty"`
	ExternalIPv6 string `json:"externalIpv6Prefix,omitempty"`
}

// addAutoSubnetworks makes one subnetwork in every region, as auto mode does.
// Machines get their private addresses from the lab, not from these.
func (d *Door) addAutoSubnetworks(n *network) {
	for i, region := range d.regions {
		d.addSubnetwork(n, region, n.Name, fmt.Sprintf("10.%d.%d.0/20", 128+i/16, i%16*16))
	}
}

// addSubnetwork makes one that stays as long as its network.
func (d *Door) addSubnetwork(n *network, region, name, cidr string) {
	s := &subnetwork{region: region, auto: true, subnetworkJSON: subnetworkJSON{
		Network: n.SelfLink, CIDR: cidr, Region: d.link("regions", region), Purpose: "PRIVATE", StackType: ipv4Only,
	}}
	s.meta, s.created = d.newMeta("subnetwork", name, "", "regions", region, "subnetworks", name)
	d.subnetworks[region+"/"+name] = s
}

func (q *request) insertSubnetwork() (any, error) {
	var in subnetworkJSON
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if err := checkName(in.Name); err != nil {
		return nil, err
	}
	d := q.door
	n, err := d.networkAt("resource.network", in.Network)
	if err != nil {
		return nil, err
	}
	if n.auto() {
		return nil, invalidField("resource.network", in.Network, "Subnetworks of an auto mode network cannot be created by hand.")
	}
	if d.subnetworks[q.region+"/"+in.Name] != nil {
		return nil, alreadyExists(d.path("regions", q.region, "subnetworks", in.Name))
	}
	if err := d.checkRange(n, in.CIDR); err != nil {
		return nil, err
	}
	stackType, access, external, err := q.stack(in)
	if err != nil {
		return nil, err
	}
	s := &subnetwork{region: q.region, busy: true, subnetworkJSON: subnetworkJSON{
		Network: n.SelfLink, CIDR: in.CIDR, Region: d.link("regions", q.region), Purpose: "PRIVATE", StackType: stackType, Private: in.Private,
		IPv6Access: access, ExternalIPv6: external,
	}}
	s.meta, s.created = d.newMeta("subnetwork", in.Name, in.About, "regions", q.region, "subnetworks", in.Name)
	d.subnetworks[q.region+"/"+s.Name] = s
	return q.operate("insert", s.meta, d.ready(&s.busy)), nil
}

func (d *Door) checkRange(n *network, cidr string) error {
	const field = "resource.ipCidrRange"
	p, err := netip.ParsePrefix(cidr)
	if err != nil || !p.Addr().Is4() || p != p.Masked() || p.Bits() > 29 || p.Bits() < 4 {
		return invalidField(field, cidr, "Must be a CIDR address range.")
	}
	for _, s := range d.subnetworks {
		if s.Network == n.SelfLink && netip.MustParsePrefix(s.CIDR).Overlaps(p) {
			return invalidField(field, cidr, "IP range conflicts with "+s.CIDR+".")
		}
	}
	return nil
}

func (q *request) subnetwork() (*subnetwork, error) {
	if s := q.door.subnetworks[q.region+"/"+q.PathValue("name")]; s != nil {
		return s, nil
	}
	return nil, notFound(q.door.path("regions", q.region, "subnetworks", q.PathValue("name")))
}

func (q *request) getSubnetwork() (any, error) {
	s, err := q.subnetwork()
	if err != nil {
		return nil, err
	}
	return s.subnetworkJSON, nil
}

func (d *Door) subnetworkEntries(region string) []entry {
	var all []entry
	for _, key := range slices.Sorted(maps.Keys(d.subnetworks)) {
		if s := d.subnetworks[key]; region == "" || s.region == region {
			all = append(all, entry{"regions/" + s.region, s.subnetworkJSON})
		}
	}
	return all
}

func (q *request) listSubnetworks() (any, error) {
	return q.list("subnetworkList", q.door.subnetworkEntries(q.region))
}

func (q *request) aggregateSubnetworks() (any, error) {
	return q.aggregate("subnetworkAggregatedList", "subnetworks", q.door.regionScopes(), q.door.subnetworkEntries(""))
}

func (q *request) deleteSubnetwork() (any, error) {
	s, err := q.subnetwork()
	if err != nil {
		return nil, err
	}
	d := q.door
	path := d.path("regions", s.region, "subnetworks", s.Name)
	switch {
	case s.busy:
		return nil, notReady(path)
	case s.auto:
		return nil, invalidField("subnetwork", s.Name, "Cannot delete auto subnetwork from an auto mode network.")
	}
	for _, i := range d.instances {
		if i.Interfaces[0].Subnetwork == s.SelfLink {
			return nil, inUse(path, d.path("zones", i.zone, "instances", i.Name))
		}
	}
	s.busy = true
	return q.operate("delete", s.meta, func(context.Context) *flop {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.subnetworks, s.region+"/"+s.Name)
		return nil
	}), nil
}

// subnetAt finds the subnetwork of an interface: by its link, or the region's
// own of an auto mode network.
func (q *request) subnetAt(n *network, link string) (*subnetwork, error) {
	d := q.door.owner(n.SelfLink)
	name, region := n.Name, q.region
	if link != "" {
		part := parseLink(link)
		name = part["subnetworks"]
		if r := part["regions"]; r != "" && r != region {
			return nil, invalidField("resource.networkInterfaces[0].subnetwork", link, "Subnetwork must be in the instance's region.")
		}
	} else if !n.auto() {
		return nil, invalidField("resource.networkInterfaces[0]", n.Name,
			"Network interface must specify a subnet if the network resource is in custom subnet mode.")
	}
	path := strings.Join([]string{"regions", region, "subnetworks", name}, "/")
	s := d.subnetworks[region+"/"+name]
	switch {
	case s == nil || s.Network != n.SelfLink:
		return nil, notFound(d.path(path))
	case s.busy:
		return nil, notReady(d.path(path))
	}
	return s, nil
}
