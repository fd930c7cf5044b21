package gce

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

type disk struct {
	diskJSON
	zone       string
	created    time.Time
	instance   *instance // nil: attached to none
	autoDelete bool      // goes with its instance
	busy       bool
}

type diskJSON struct {
	meta
	SizeGB           long              `json:"sizeGb"`
	Zone             string            `json:"zone"`
	Status           string            `json:"status"`
	SourceImage      string            `json:"sourceImage,omitempty"`
	Type             string            `json:"type"`
	Labels           map[string]string `json:"labels,omitempty"`
	LabelFingerprint string            `json:"labelFingerprint,omitempty"`
	Users            []string          `json:"users,omitempty"`
}

// attachedJSON is a disk as an instance has it.
type attachedJSON struct {
	Kind       string          `json:"kind,omitempty"`
	Type       string          `json:"type,omitempty"`
	Mode       string          `json:"mode,omitempty"`
	Source     string          `json:"source,omitempty"`
	DeviceName string          `json:"deviceName,omitempty"`
	Index      int             `json:"index"`
	Boot       bool            `json:"boot"`
	AutoDelete bool            `json:"autoDelete"`
	Interface  string          `json:"interface,omitempty"`
	SizeGB     long            `json:"diskSizeGb,omitempty"`
	Initialize *initializeJSON `json:"initializeParams,omitempty"`
}

type initializeJSON struct {
	SourceImage string            `json:"sourceImage,omitempty"`
	DiskName    string            `json:"diskName,omitempty"`
	DiskType    string            `json:"diskType,omitempty"`
	SizeGB      long              `json:"diskSizeGb,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	About       string            `json:"description,omitempty"`
}

// takeDisks makes the boot disk, from an image for the machine's architecture.
func (q *request) takeDisks(i *instance, in *instanceJSON) error {
	const field = "resource.disks"
	if len(in.Disks) != 1 || !in.Disks[0].Boot {
		return invalidField(field, len(in.Disks), "The lab's machines have exactly one disk, to boot from.")
	}
	want := in.Disks[0]
	if want.Initialize == nil || want.Initialize.SourceImage == "" {
		return invalidField(field+"[0].initializeParams.sourceImage", "", "The lab's machines boot from an image.")
	}
	img, ok := findImage(want.Initialize.SourceImage)
	switch {
	case !ok:
		return notFound(want.Initialize.SourceImage)
	case img.arch != i.machineType.arch:
		return invalidField(field+"[0]", img.name, "The image's architecture "+img.arch+" is not the machine type's, "+i.machineType.arch+".")
	}
	if size := want.Initialize.SizeGB; size != 0 && size < imageSizeGB {
		return invalidField(field+"[0].initializeParams.diskSizeGb", size, "It is smaller than the image.")
	}
	d, err := q.newDisk(i, want, img)
	if err != nil {
		return err
	}
	i.Disks = []attachedJSON{{
		Kind: "compute#attachedDisk", Type: "PERSISTENT", Mode: "READ_WRITE", Source: d.SelfLink, DeviceName: cmp.Or(want.DeviceName, "persistent-disk-0"),
		Boot: true, AutoDelete: want.AutoDelete, Interface: "SCSI", SizeGB: d.SizeGB,
	}}
	return nil
}

func (q *request) newDisk(i *instance, want attachedJSON, img image) (*disk, error) {
	door, init := q.door, want.Initialize
	name := cmp.Or(init.DiskName, i.Name)
	if err := cmp.Or(checkName(name), checkLabels("resource.disks[0].initializeParams.labels", init.Labels)); err != nil {
		return nil, err
	}
	if door.disks[q.zone+"/"+name] != nil {
		return nil, alreadyExists(door.path("zones", q.zone, "disks", name))
	}
	kind := cmp.Or(parseLink(init.DiskType)["diskTypes"], "pd-standard")
	d := &disk{zone: q.zone, instance: i, autoDelete: want.AutoDelete, diskJSON: diskJSON{
		SizeGB: cmp.Or(init.SizeGB, imageSizeGB), Zone: door.link("zones", q.zone), Status: "READY", SourceImage: img.link(),
		Type: door.link("zones", q.zone, "diskTypes", kind), Labels: init.Labels, LabelFingerprint: "42WmSpB8rSM=",
	}}
	d.meta, d.created = door.newMeta("disk", name, init.About, "zones", q.zone, "disks", name)
	door.disks[q.zone+"/"+name] = d
	return d, nil
}

func (d *disk) json() diskJSON {
	out := d.diskJSON
	if d.instance != nil {
		out.Users = []string{d.instance.SelfLink}
	}
	return out
}

func (q *request) disk() (*disk, error) {
	if d := q.door.disks[q.zone+"/"+q.PathValue("name")]; d != nil {
		return d, nil
	}
	return nil, notFound(q.door.path("zones", q.zone, "disks", q.PathValue("name")))
}

func (q *request) getDisk() (any, error) {
	d, err := q.disk()
	if err != nil {
		return nil, err
	}
	return d.json(), nil
}

func (d *Door) diskEntries(zone string) []entry {
	var all []entry
	for _, key := range slices.Sorted(maps.Keys(d.disks)) {
		if disk := d.disks[key]; zone == "" || disk.zone == zone {
			all = append(all, entry{"zones/" + disk.zone, disk.json()})
		}
	}
	return all
}

func (q *request) listDisks() (any, error) { return q.list("diskList", q.door.diskEntries(q.zone)) }

func (q *request) aggregateDisks() (any, error) {
	return q.aggregate("diskAggregatedList", "disks", q.door.zoneScopes(), q.door.diskEntries(""))
}

func (q *request) deleteDisk() (any, error) {
	d, err := q.disk()
	if err != nil {
		return nil, err
	}
	door := q.door
	path := door.path("zones", d.zone, "disks", d.Name)
	switch {
	case d.instance != nil:
		return nil, inUse(path, door.path("zones", d.zone, "instances", d.instance.Name))
	case d.busy:
		return nil, notReady(path)
	}
	d.busy = true
	return q.operate("delete", d.meta, func(context.Context) *flop {
		door.mu.Lock()
		defer door.mu.Unlock()
		delete(door.disks, d.zone+"/"+d.Name)
		return nil
	}), nil
}
