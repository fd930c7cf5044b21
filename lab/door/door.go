package door

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door/ec2"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/gce"
	"github.com/antipode-bench/antipode/lab/door/inventory"
	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm"
)

// Faults, Timing and Inventory are what callers of this package need of the
// rooms behind it.
type (
	Faults    = fault.Faults
	Timing    = rack.Timing
	Range     = rack.Range
	Inventory = inventory.List
)

// DefaultProject is the Google Cloud project behind the doors unless Options
// names another.
const DefaultProject = "antipode-lab"

// Options says what is behind the doors.
type Options struct {
	Regions        []antipode.Region // those of clouds without a door are passed over
	Machines       vm.Hypervisor
	ControllerAddr netip.Addr   // what CheckIP answers
	Project        string       // the only Google Cloud project; empty: DefaultProject
	IPv6           []string     // ids of the regions that have it, "cloud:region"
	Faults         Faults       // what goes wrong
	Timing         *Timing      // nil: rack.DefaultTiming
	Log            *slog.Logger // nil: none
}

// Doors are the open doors of one lab. Safe for concurrent use.
type Doors struct {
	controller netip.Addr
	rack       *rack.Rack
	faults     *fault.Injector
	aws        *ec2.Door
	gcp        *gce.Door
}

// New opens the doors. Close them, or machines stay.
func New(o Options) (*Doors, error) {
	timing := rack.DefaultTiming()
	if o.Timing != nil {
		timing = *o.Timing
	}
	if o.Machines == nil {
		return nil, errors.New("open doors: no hypervisor")
	}
	if err := cmp.Or(timing.Validate(), o.Faults.Validate()); err != nil {
		return nil, fmt.Errorf("open doors: %w", err)
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	machines := rack.New(o.Machines, timing, log)
	faults := fault.NewInjector(o.Faults)
	d := &Doors{
		controller: o.ControllerAddr,
		rack:       machines,
		faults:     faults,
		aws:        ec2.New(o.Regions, machines, faults, log),
		gcp:        gce.New(o.Regions, cmp.Or(o.Project, DefaultProject), machines, faults, log),
	}
	d.giveIPv6(o.IPv6)
	return d, nil
}

func (d *Doors) giveIPv6(ids []string) {
	for _, id := range ids {
		switch cloud, name, _ := antipode.SplitID(id); cloud {
		case "aws":
			d.aws.GiveIPv6(name)
		case "gcp":
			d.gcp.GiveIPv6(name)
		}
	}
}

// AWS answers EC2, SSM and STS of all AWS regions.
func (d *Doors) AWS() http.Handler { return d.aws }

// GCP answers Compute Engine's REST API of all Google Cloud regions.
func (d *Doors) GCP() http.Handler { return d.gcp }

// CheckIP answers every request with the controller's address as text, as the
// clouds' own services for that do.
func (d *Doors) CheckIP() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, d.controller.String()+"\n") // a caller that hung up needs no answer
	})
}

// Inventory lists everything that exists behind the doors at this moment.
func (d *Doors) Inventory() Inventory {
	list := append(d.aws.Inventory(), d.gcp.Inventory()...)
	list.Sort()
	return list
}

// LiftFaults lets all calls from now on go well: the bad day is over.
func (d *Doors) LiftFaults() { d.faults.Lift() }

// Close stops all machines and ends every call that is kept waiting. It returns
// what could not be stopped. Safe to call twice.
func (d *Doors) Close() error {
	d.faults.Release()
	return d.rack.Close()
}
