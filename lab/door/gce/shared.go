package gce

import (
	"fmt"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

// addNetworks makes those that were there before anybody of ours came.
func (d *Door) addNetworks(given []fault.Network) {
	for _, g := range given {
		n := &network{builtin: true, networkJSON: networkJSON{AutoSubnets: &g.Auto, MTU: 1460}}
		n.meta, n.created = d.newMeta("network", g.Name, "", "global", "networks", g.Name)
		d.networks[n.Name] = n
		if g.Auto {
			d.addAutoSubnetworks(n)
		}
		for i, region := range d.regions {
			for k, name := range g.Subnets[region] {
				d.addSubnetwork(n, region, name, fmt.Sprintf("172.%d.%d.0/24", 16+k, i))
			}
		}
	}
}

// of is the door of a project: ours, or the host that shares its networks.
func (d *Door) of(project string) *Door {
	for _, other := range d.projects {
		if other.project == project {
			return other
		}
	}
	return d
}

// owner is the door of the project that a link names.
func (d *Door) owner(link string) *Door { return d.of(parseLink(link)["projects"]) }

type hostJSON struct {
	Kind     string `json:"kind"`
	ID       ulong  `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	SelfLink string `json:"selfLink,omitempty"`
}

// getXpnHost answers with the host of a Shared VPC that the project is part of,
// empty if it is part of none.
func (q *request) getXpnHost() (any, error) {
	name := q.door.faults.Host()
	if name == "" || name == q.door.project {
		return hostJSON{Kind: "compute#project"}, nil
	}
	return hostJSON{Kind: "compute#project", ID: idOf(name), Name: name, SelfLink: host + "projects/" + name}, nil
}
