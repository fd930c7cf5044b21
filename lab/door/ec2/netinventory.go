package ec2

import "github.com/antipode-bench/antipode/lab/door/inventory"

// networkInventory lists the networks that somebody made, and what is in them.
func (r *region) networkInventory() inventory.List {
	var list inventory.List
	for _, v := range r.vpcs {
		if !v.home {
			list = append(list, r.item(inventory.Network, &v.resource))
		}
	}
	for _, s := range r.subnets {
		if !s.home {
			it := r.item(inventory.Subnetwork, &s.resource)
			it.Zone = s.zone.name
			list = append(list, it)
		}
	}
	for _, g := range r.gateways {
		if g.vpc == nil || !g.vpc.home {
			list = append(list, r.item(inventory.InternetGateway, &g.resource))
		}
	}
	for _, t := range r.tables {
		if !t.main {
			list = append(list, r.item(inventory.RouteTable, &t.resource))
		}
	}
	return list
}
