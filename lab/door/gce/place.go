package gce

import (
	"hash/fnv"
	"maps"
	"slices"
)

// idOf is the id of something Google made, the same in every lab.
func idOf(name string) ulong {
	h := fnv.New64a()
	h.Write([]byte(name))
	return ulong(h.Sum64() >> 1)
}

type zoneJSON struct {
	meta
	Status string `json:"status"`
	Region string `json:"region"`
}

type regionJSON struct {
	meta
	Status string      `json:"status"`
	Zones  []string    `json:"zones"`
	Quotas []quotaJSON `json:"quotas"`
}

func (d *Door) zoneJSON(zone string) *zoneJSON {
	m := meta{Kind: "compute#zone", ID: idOf(zone), Name: zone, About: zone, SelfLink: d.link("zones", zone)}
	return &zoneJSON{m, "UP", d.link("regions", d.zones[zone])}
}

func (d *Door) regionJSON(region string) *regionJSON {
	m := meta{Kind: "compute#region", ID: idOf(region), Name: region, About: region, SelfLink: d.link("regions", region)}
	r := &regionJSON{meta: m, Status: "UP", Quotas: d.regionQuotas(region)}
	for _, zone := range d.sortedZones() {
		if d.zones[zone] == region {
			r.Zones = append(r.Zones, d.link("zones", zone))
		}
	}
	return r
}

func (d *Door) sortedZones() []string { return slices.Sorted(maps.Keys(d.zones)) }

// zoneScopes and regionScopes are the scopes of aggregated lists.
func (d *Door) zoneScopes() []string {
	var scopes []string
	for _, z := range d.sortedZones() {
		scopes = append(scopes, "zones/"+z)
	}
	return scopes
}

func (d *Door) regionScopes() []string {
	var scopes []string
	for _, r := range d.regions {
		scopes = append(scopes, "regions/"+r)
	}
	return scopes
}

func (q *request) getZone() (any, error) { return q.door.zoneJSON(q.zone), nil }

func (q *request) listZones() (any, error) {
	var all []entry
	for _, z := range q.door.sortedZones() {
		all = append(all, entry{value: q.door.zoneJSON(z)})
	}
	return q.list("zoneList", all)
}

func (q *request) getRegion() (any, error) { return q.door.regionJSON(q.region), nil }

func (q *request) listRegions() (any, error) {
	var all []entry
	for _, r := range q.door.regions {
		all = append(all, entry{value: q.door.regionJSON(r)})
	}
	return q.list("regionList", all)
}
