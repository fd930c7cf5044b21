package gce

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/antipode-bench/antipode/lab/door/inventory"
)

func (q *request) instance() (*instance, error) {
	if i := q.door.instances[q.zone+"/"+q.PathValue("name")]; i != nil {
		return i, nil
	}
	return nil, notFound(q.door.path("zones", q.zone, "instances", q.PathValue("name")))
}

func (q *request) getInstance() (any, error) {
	i, err := q.instance()
	if err != nil {
		return nil, err
	}
	return i.instanceJSON, nil
}

func (d *Door) instanceEntries(zone string) []entry {
	var all []entry
	for _, key := range slices.Sorted(maps.Keys(d.instances)) {
		if i := d.instances[key]; zone == "" || i.zone == zone {
			all = append(all, entry{"zones/" + i.zone, i.instanceJSON})
		}
	}
	return all
}

func (q *request) listInstances() (any, error) {
	return q.list("instanceList", q.door.instanceEntries(q.zone))
}

func (q *request) aggregateInstances() (any, error) {
	return q.aggregate("instanceAggregatedList", "instances", q.door.zoneScopes(), q.door.instanceEntries(""))
}

// deleteInstance ends an instance. Asked for again meanwhile, it waits for the
// same end.
func (q *request) deleteInstance() (any, error) {
	i, err := q.instance()
	if err != nil {
		return nil, err
	}
	if i.DeletionProtect {
		return nil, invalid("Invalid resource usage: 'Resource cannot be deleted if it's protected against deletion.'")
	}
	end := i.remove()
	return q.operate("delete", i.meta, func(ctx context.Context) *flop {
		select {
		case <-end.over:
			return internalError(end.err)
		case <-ctx.Done():
			return internalError(errClosing)
		}
	}), nil
}

// Inventory lists everything that exists, in no promised order.
func (d *Door) Inventory() inventory.List {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list inventory.List
	for _, project := range d.projects {
		list = append(list, project.inventory()...)
	}
	return list
}

// inventory is that of one project. The door must be locked.
func (d *Door) inventory() (list inventory.List) {
	add := func(kind string, m meta, item inventory.Item) {
		item.Cloud, item.Kind, item.ID, item.Name = "gcp", kind, fmt.Sprint(uint64(m.ID)), m.Name
		item.Tags = maps.Clone(item.Tags)
		list = append(list, item)
	}
	for _, i := range d.instances {
		public, private := i.addresses()
		add(inventory.Instance, i.meta, inventory.Item{
			Region: i.region, Zone: i.zone, State: i.Status, Type: i.machineType.name, Tags: i.Labels, Created: i.created,
			Public: public, Private: private, Warnings: append(slices.Clone(i.warnings), i.guest.warning()...),
		})
	}
	for _, k := range d.disks {
		add(inventory.Disk, k.meta, inventory.Item{Region: d.zones[k.zone], Zone: k.zone, State: k.Status, Tags: k.Labels, Created: k.created})
	}
	for _, n := range d.networks {
		if !n.builtin {
			add(inventory.Network, n.meta, inventory.Item{Created: n.created})
		}
	}
	for _, s := range d.subnetworks {
		if !s.auto {
			add(inventory.Subnetwork, s.meta, inventory.Item{Region: s.region, Created: s.created})
		}
	}
	for _, f := range d.firewalls {
		if !f.builtin {
			add(inventory.FirewallRule, f.meta, inventory.Item{Created: f.created})
		}
	}
	return list
}
