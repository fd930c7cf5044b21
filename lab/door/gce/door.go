package gce

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/rack"
)

// Door is the Compute Engine of a lab. Safe for concurrent use.
type Door struct {
	mux     *http.ServeMux
	rack    *rack.Rack
	faults  *fault.Injector
	log     *slog.Logger
	project string
	regions []string          // sorted
	zones   map[string]string // zone to region
	ipv6    map[string]bool   // regions that have it

	// projects are the doors of ours and of the host that shares its networks, if
	// there is one.
	projects []*Door

	// mu guards what follows, in all projects. It is held for a moment only, never while a
	// machine starts or stops; of other locks only the rack's own is taken under it.
	mu          *sync.Mutex
	instances   map[string]*instance   // by zone/name
	disks       map[string]*disk       // by zone/name
	networks    map[string]*network    // by name
	subnetworks map[string]*subnetwork // by region/name
	firewalls   map[string]*firewall   // by name
	operations  map[string]*operation  // by name
	requests    map[string]*operation  // by the caller's requestId
}

// New returns a door to the Google Cloud regions among those given, with one
// project and, where the faults name it, the host that shares networks with it.
func New(regions []antipode.Region, project string, machines *rack.Rack, faults *fault.Injector, log *slog.Logger) *Door {
	d := newProject(regions, project, machines, faults, log)
	d.projects = []*Door{d}
	if !faults.NoDefaultNetwork() {
		d.addDefaultNetwork()
	}
	d.addNetworks(faults.Networks(""))
	if name := faults.Host(); name != "" {
		host := newProject(regions, name, machines, faults, log)
		d.projects = append(d.projects, host)
		host.projects, host.mu = d.projects, d.mu
		host.addNetworks(faults.Networks(name))
	}
	d.route()
	return d
}

// newProject is the door of a project without any network.
func newProject(regions []antipode.Region, project string, machines *rack.Rack, faults *fault.Injector, log *slog.Logger) *Door {
	d := &Door{
		rack: machines, faults: faults, log: log, project: project, mu: &sync.Mutex{},
		zones:       map[string]string{},
		ipv6:        map[string]bool{},
		instances:   map[string]*instance{},
		disks:       map[string]*disk{},
		networks:    map[string]*network{},
		subnetworks: map[string]*subnetwork{},
		firewalls:   map[string]*firewall{},
		operations:  map[string]*operation{},
		requests:    map[string]*operation{},
	}
	for _, r := range regions {
		if r.Cloud == "gcp" {
			d.regions = append(d.regions, r.Name)
			for _, letter := range zoneLetters(r.Name) {
				d.zones[r.Name+"-"+letter] = r.Name
			}
		}
	}
	slices.Sort(d.regions)
	return d
}

func (d *Door) route() {
	d.mux = http.NewServeMux()
	for _, rt := range routes() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		d.mux.HandleFunc(method+" "+base+path, d.handle(rt))
	}
	d.mux.HandleFunc("POST /v3/projects/{resource}", d.handleProjectMethod)
	d.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&failure{http.StatusNotFound, "notFound", fmt.Sprintf("The lab has no %s %s", r.Method, r.URL.Path)}).write(w)
	})
}

// ServeHTTP answers one call.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.mux.ServeHTTP(w, r) }

// zoneLetters are the zones of a region.
func zoneLetters(region string) []string {
	switch region {
	case "europe-west1", "us-east1":
		return []string{"b", "c", "d"}
	case "us-central1":
		return []string{"a", "b", "c", "f"}
	default:
		return []string{"a", "b", "c"}
	}
}

// timestamp is a time as Compute Engine writes it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000-07:00") }

// host is where links begin.
const host = "https://www.googleapis.com/compute/v1/"

// link is a resource's full address, path its short one.
func (d *Door) link(parts ...string) string { return host + d.path(parts...) }

func (d *Door) path(parts ...string) string {
	return "projects/" + d.project + "/" + strings.Join(parts, "/")
}

// parseLink reads an address, full or from any collection on:
// "zones/us-east1-b/machineTypes/e2-small" gives zones and machineTypes.
func parseLink(s string) map[string]string {
	if _, after, ok := strings.Cut(s, "/compute/v1/"); ok {
		s = after
	}
	found := map[string]string{}
	part := strings.Split(strings.TrimPrefix(s, "/"), "/")
	for i := 0; i+1 < len(part); i += 2 {
		if part[i] == "global" {
			i--
			continue
		}
		found[part[i]] = part[i+1]
	}
	return found
}

// meta is what all resources have.
type meta struct {
	Kind     string `json:"kind"`
	ID       ulong  `json:"id,omitempty"`
	Created  string `json:"creationTimestamp,omitempty"`
	Name     string `json:"name"`
	About    string `json:"description,omitempty"`
	SelfLink string `json:"selfLink,omitempty"`
}

// newMeta fills in what the cloud decides; path is the resource's collection and name.
func (d *Door) newMeta(kind, name, about string, path ...string) (meta, time.Time) {
	now := time.Now()
	return meta{
		Kind: "compute#" + kind, ID: ulong(d.rack.Uint64() >> 1), Created: timestamp(now),
		Name: name, About: about, SelfLink: d.link(path...),
	}, now
}
