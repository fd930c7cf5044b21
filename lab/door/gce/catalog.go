package gce

import (
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

// machineType is one machine type that the lab offers, in every zone.
type machineType struct {
	name      string
	cpus      int
	memoryMiB int
	shared    bool // of a core
	arch      string
}

const (
	x86 = "X86_64"
	arm = "ARM64"
)

var machineTypes = []machineType{
	{"e2-micro", 2, 1024, true, x86},
	{"e2-small", 2, 2048, true, x86},
	{"e2-medium", 2, 4096, true, x86},
	{"e2-standard-2", 2, 8192, false, x86},
	{"e2-standard-4", 4, 16384, false, x86},
	{"n2-standard-2", 2, 8192, false, x86},
	{"n2-standard-4", 4, 16384, false, x86},
	{"t2d-standard-1", 1, 4096, false, x86},
	{"t2a-standard-1", 1, 4096, false, arm},
	{"c3-standard-4", 4, 16384, false, x86},
	{"c4-standard-2", 2, 7168, false, x86},
	{"c4-standard-4", 4, 15360, false, x86},
	{"c4a-standard-1", 1, 4096, false, arm},
	{"n4-standard-2", 2, 8192, false, x86},
	{"n4-standard-4", 4, 16384, false, x86},
}

func findType(name string) (machineType, bool) {
	i := slices.IndexFunc(machineTypes, func(t machineType) bool { return t.name == name })
	if i < 0 {
		return machineType{}, false
	}
	return machineTypes[i], true
}

// quota is what the region counts the type's processors by: the oldest
// families share one, the newest have none.
func (t machineType) quota() string {
	family, _, _ := strings.Cut(t.name, "-")
	switch family {
	case "e2":
		return fault.RegionCPUs
	case "c4", "c4a", "n4":
		return ""
	}
	return strings.ToUpper(family) + "_CPUS"
}

type machineTypeJSON struct {
	meta
	CPUs      int    `json:"guestCpus"`
	MemoryMiB int    `json:"memoryMb"`
	Zone      string `json:"zone"`
	Shared    bool   `json:"isSharedCpu"`
	Arch      string `json:"architecture"`
}

func (q *request) machineType(t machineType) *machineTypeJSON {
	m := meta{Kind: "compute#machineType", ID: idOf(t.name), Name: t.name, SelfLink: q.door.link("zones", q.zone, "machineTypes", t.name)}
	return &machineTypeJSON{m, t.cpus, t.memoryMiB, q.zone, t.shared, t.arch}
}

func (q *request) getMachineType() (any, error) {
	t, ok := findType(q.PathValue("name"))
	if !ok {
		return nil, notFound(q.door.path("zones", q.zone, "machineTypes", q.PathValue("name")))
	}
	return q.machineType(t), nil
}

func (q *request) listMachineTypes() (any, error) {
	var all []entry
	for _, t := range machineTypes {
		all = append(all, entry{value: q.machineType(t)})
	}
	return q.list("machineTypeList", all)
}

func (q *request) aggregateMachineTypes() (any, error) {
	d := q.door
	var all []entry
	for _, zone := range d.sortedZones() {
		at := request{door: d, zone: zone}
		for _, t := range machineTypes {
			all = append(all, entry{"zones/" + zone, at.machineType(t)})
		}
	}
	return q.aggregate("machineTypeAggregatedList", "machineTypes", d.zoneScopes(), all)
}

// image is one public image; its family always leads to it.
type image struct {
	project, family, name, arch string
	cloudInit                   bool // else the guest agent alone
}

var images = []image{
	{"debian-cloud", "debian-12", "debian-12-bookworm-v20261110", x86, false},
	{"debian-cloud", "debian-12-arm64", "debian-12-bookworm-arm64-v20261110", arm, false},
	{"debian-cloud", "debian-13", "debian-13-trixie-v20261110", x86, false},
	{"debian-cloud", "debian-13-arm64", "debian-13-trixie-arm64-v20261110", arm, false},
	{"ubuntu-os-cloud", "ubuntu-2404-lts-amd64", "ubuntu-2404-noble-amd64-v20261112", x86, true},
	{"ubuntu-os-cloud", "ubuntu-2404-lts-arm64", "ubuntu-2404-noble-arm64-v20261112", arm, true},
}

const imageSizeGB = 10

func imageProject(name string) bool {
	return slices.ContainsFunc(images, func(i image) bool { return i.project == name })
}

// findImage finds what a sourceImage names: an image, or a family's newest.
func findImage(link string) (image, bool) {
	part := parseLink(strings.Replace(link, "/images/family/", "/families/", 1))
	for _, i := range images {
		if part["projects"] == i.project && (part["images"] == i.name || part["families"] == i.family) {
			return i, true
		}
	}
	return image{}, false
}

type imageJSON struct {
	meta
	Family string `json:"family"`
	Arch   string `json:"architecture"`
	SizeGB long   `json:"diskSizeGb"`
	Status string `json:"status"`
}

func (i image) link() string { return host + "projects/" + i.project + "/global/images/" + i.name }

func (i image) json() *imageJSON {
	return &imageJSON{meta{Kind: "compute#image", ID: idOf(i.name), Name: i.name, SelfLink: i.link(), Created: "2026-11-16T00:00:00.000-08:00"},
		i.family, i.arch, imageSizeGB, "READY"}
}

func (q *request) getImageFromFamily() (any, error) {
	for _, i := range images {
		if i.project == q.PathValue("project") && i.family == q.PathValue("name") {
			return i.json(), nil
		}
	}
	return nil, notFound("projects/" + q.PathValue("project") + "/global/images/family/" + q.PathValue("name"))
}

func (q *request) getImage() (any, error) {
	for _, i := range images {
		if i.project == q.PathValue("project") && i.name == q.PathValue("name") {
			return i.json(), nil
		}
	}
	return nil, notFound("projects/" + q.PathValue("project") + "/global/images/" + q.PathValue("name"))
}
