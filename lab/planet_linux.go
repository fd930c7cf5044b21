package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/hypervisor"
	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/world"
)

// machineProgram is where the inner keeps the machine binary, in its own /tmp.
const machineProgram = "/tmp/antipode-machine"

// planet is what lives in the inner: the router, the machines, the doors.
type planet struct {
	endpoints   Endpoints
	worldFile   []byte
	calibration router.Calibration // zero when rough
	router      *router.Router
	machines    *hypervisor.Hypervisor
	doors       *door.Doors
	places      *places
	log         *slog.Logger
}

// newPlanet has no counterpart that ends it: a planet ends with its process.
func newPlanet(ctx context.Context, s setup, machine []byte, log *slog.Logger) (*planet, error) {
	w, err := world.Parse("world", s.World)
	if err != nil {
		return nil, err
	}
	kind, err := chooseLink(s.Link)
	if err != nil {
		return nil, err
	}
	p := &planet{worldFile: s.World, log: log}
	if !s.Rough {
		if p.calibration, err = router.Calibrate(ctx, kind); err != nil {
			return nil, err
		}
	}
	if p.router, err = router.New(router.Options{World: w, Log: log, Cost: p.calibration.Cost, Cuts: cutsOf(s.Faults), SampleEvery: s.SampleEvery}); err != nil {
		return nil, err
	}
	if err := connectController(p.router, kind); err != nil {
		return nil, err
	}
	p.machines, err = hypervisor.New(hypervisor.Config{
		Machine: machine, Program: machineProgram, Link: kind,
		Network: p.router, Log: log, Output: os.Stderr,
	})
	if err != nil {
		return nil, err
	}
	if p.places, err = newPlaces(w, p.machines); err != nil {
		return nil, err
	}
	p.doors, err = door.New(door.Options{
		Regions: regionsOf(w), Machines: p.machines, ControllerAddr: hypervisor.ControllerAddress(),
		IPv6: withIPv6(w), Faults: s.Faults, Timing: s.Timing, Log: log,
	})
	if err != nil {
		return nil, err
	}
	return p, p.open()
}

// cutsOf are those of a fault file.
func cutsOf(f door.Faults) []router.Cut {
	var cuts []router.Cut
	for _, c := range f.Cuts {
		cuts = append(cuts, router.Cut{Cloud: c.Cloud, Region: c.Region, After: c.After(), For: c.For()})
	}
	return cuts
}

// regionsOf are the regions the doors have: those of the world.
func regionsOf(w *world.World) []antipode.Region {
	known := antipode.Regions()
	var regions []antipode.Region
	for _, r := range w.Regions {
		region, found := antipode.Find(known, r.ID)
		if !found { // a place of the world's own making
			region.Cloud, region.Name, _ = antipode.SplitID(r.ID)
			region.Latitude, region.Longitude = r.Latitude, r.Longitude
		}
		regions = append(regions, region)
	}
	return regions
}

// withIPv6 are the ids of the regions that have it.
func withIPv6(w *world.World) (ids []string) {
	for _, r := range w.Regions {
		if r.IPv6 {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// open serves the doors on loopback.
func (p *planet) open() error {
	p.endpoints.Controller = hypervisor.ControllerAddress()
	for _, d := range []struct {
		url     *string
		handler http.Handler
	}{
		{&p.endpoints.AWS, p.doors.AWS()},
		{&p.endpoints.GCP, p.doors.GCP()},
		{&p.endpoints.CheckIP, p.doors.CheckIP()},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("open door: %w", err)
		}
		*d.url = "http://" + l.Addr().String()
		server := &http.Server{Handler: d.handler, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelWarn)}
		go func() { p.log.Error("door closed", "err", server.Serve(l)) }()
	}
	return nil
}

// inventory is what exists, as the doors and as the hypervisor see it.
func (p *planet) inventory() ([]byte, error) {
	clouds := map[string]door.Inventory{"aws": {}, "gcp": {}}
	for _, item := range p.doors.Inventory() {
		clouds[item.Cloud] = append(clouds[item.Cloud], item)
	}
	return json.Marshal(struct {
		AWS       door.Inventory       `json:"aws"`
		GCP       door.Inventory       `json:"gcp"`
		Processes []hypervisor.Process `json:"processes"`
	}{clouds["aws"], clouds["gcp"], p.machines.Processes()})
}

// startMachine starts a machine behind the doors' backs.
func (p *planet) startMachine(ctx context.Context, spec *vm.Spec) ([]byte, error) {
	if spec == nil {
		return nil, errors.New("which machine?")
	}
	addresses, err := startOpen(ctx, p.machines, *spec)
	if err != nil {
		return nil, err
	}
	return json.Marshal(addresses)
}

// counts is what the router did so far, everywhere or between two regions.
func (p *planet) counts(between string) ([]byte, error) {
	var pairs []router.PairCount
	if one, other, ok := strings.Cut(between, ">"); ok {
		pairs = p.router.CountsBetween(one, other)
	} else {
		pairs = p.router.Counts()
	}
	return json.Marshal(struct {
		Pairs       []router.PairCount `json:"pairs"`
		Strays      int64              `json:"strays"`
		Calibration router.Calibration `json:"calibration"`
	}{pairs, p.router.Strays(), p.calibration})
}

// chooseLink is TUN where it works and nothing else is asked for.
func chooseLink(wanted string) (link.Kind, error) {
	f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err == nil {
		f.Close()
	}
	switch {
	case wanted == LinkVeth, wanted == LinkAuto && err != nil:
		return link.Veth, nil
	case wanted != LinkAuto && wanted != LinkTUN:
		return "", fmt.Errorf("unknown kind of link %q: %q or %q", wanted, LinkTUN, LinkVeth)
	case err != nil:
		return "", fmt.Errorf("%w: run as root, allow it (chmod 666 /dev/net/tun), or use %s links", err, LinkVeth)
	}
	return link.TUN, nil
}
