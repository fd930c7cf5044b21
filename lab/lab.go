package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/world"
)

// InnerCommand is the hidden sub-command that the inner process runs: the
// program's main hands its arguments to InnerMain.
const InnerCommand = "lab-inner"

// ErrUnsupported is what every start of a lab ends in where there is none.
var ErrUnsupported = errors.New("the lab needs Linux: its machines are Linux namespaces")

// ErrNoLab is the error of Enter and Down when no lab of that name is up.
var ErrNoLab = errors.New("no such lab")

// Kinds of links between the machines and the router.
const (
	LinkAuto = ""     // TUN where the device node can be opened, else veth
	LinkTUN  = "tun"  // needs /dev/net/tun
	LinkVeth = "veth" // needs no device node, carries about 0.8 of the rate
)

// Options of a new lab.
type Options struct {
	World   *world.World // who is where; nil: every region there is, by distance alone
	Faults  door.Faults  // what goes wrong in there
	Timing  *door.Timing // how slow the clouds are; nil: the doors' default
	Machine []byte       // the static binary that runs a machine (cmd/antipode-machine)
	Link    string       // LinkAuto, LinkTUN or LinkVeth
	Rough   bool         // up a second sooner, delays up to 0.5 ms too long
	Log     io.Writer    // what the inner says; nil: nobody listens. Up writes a file instead.
	Command []string     // the inner's command line; empty: this program with InnerCommand

	SampleEvery time.Duration // how often the router notes down what it has delivered of a TCP flow, for Flows; 0: never
}

// Endpoints are the doors of a lab, as URLs that only the lab's own HTTPClient reaches.
type Endpoints struct {
	AWS        string     `json:"aws"`        // EC2, SSM and STS of all regions
	GCP        string     `json:"gcp"`        // Compute Engine
	CheckIP    string     `json:"check_ip"`   // answers with the caller's own address
	Controller netip.Addr `json:"controller"` // the controller's own address in the lab's internet
}

// Lab is a lab that is up, seen from the controller. All methods are safe for
// concurrent use.
type Lab struct {
	control   control
	endpoints Endpoints
}

// control is the connection to the inner.
type control interface {
	call(ctx context.Context, r request) ([]byte, error)
	dial(ctx context.Context, network, addr string) (net.Conn, error)
	done() <-chan struct{}
	err() error
	close() error
}

// Endpoints returns where the doors are.
func (l *Lab) Endpoints() Endpoints { return l.endpoints }

// Dial opens a connection inside the lab, from the controller's own address.
// Its errors are those of an ordinary dialer: a refused connection is a
// *net.OpError with ECONNREFUSED. The connection ends with the lab.
func (l *Lab) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return l.control.dial(ctx, network, addr)
}

// HTTPClient returns a client whose every connection is made inside the lab. It
// knows no proxy and never falls back on the host's network.
func (l *Lab) HTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:         l.Dial,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     30 * time.Second,
	}}
}

// Inventory returns what exists at this moment, as JSON: under "aws" and "gcp"
// what is behind the doors, under "processes" the machines that run.
func (l *Lab) Inventory(ctx context.Context) (json.RawMessage, error) {
	return l.control.call(ctx, request{Op: opInventory})
}

// World returns who is where, with delays, rates and loss.
func (l *Lab) World(ctx context.Context) (*world.World, error) {
	data, err := l.control.call(ctx, request{Op: opWorld})
	if err != nil {
		return nil, err
	}
	return world.Parse("world of the lab", data)
}

// Truth returns what a perfect measurement would say; machineTypes names the
// machine type that is used in each region or cloud, and test how it is measured.
func (l *Lab) Truth(ctx context.Context, machineTypes map[string]string, test world.Test) ([]world.Row, error) {
	w, err := l.World(ctx)
	if err != nil {
		return nil, err
	}
	return w.Truth(machineTypes, test), nil
}

// Counts returns what the router carried and dropped, as JSON: under "pairs" the
// counts per pair, under "strays" the packets of no pair, under "calibration" what
// it can do.
func (l *Lab) Counts(ctx context.Context) (json.RawMessage, error) {
	return l.control.call(ctx, request{Op: opCounts})
}

// CountsBetween is Counts with the pairs of two regions only, both ways: a part of
// what many regions make long.
func (l *Lab) CountsBetween(ctx context.Context, one, other string) (json.RawMessage, error) {
	return l.control.call(ctx, request{Op: opCounts, Between: one + ">" + other})
}

// Place is where in the lab a user's own programs run (Exec): one for each region.
type Place struct {
	Region  string     `json:"region"`        // "cloud:region"
	Name    string     `json:"name"`          // its host name; programs find it with ".lab" too
	Address netip.Addr `json:"address"`       // reached by everyone in the lab
	IPv6    netip.Addr `json:"ipv6,omitzero"` // the same, where the region has IPv6
}

// Regions returns the places of all regions of the lab's world, in its order.
func (l *Lab) Regions(ctx context.Context) (all []Place, err error) {
	data, err := l.control.call(ctx, request{Op: opRegions})
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(data, &all)
}

// Flows returns what became of every flow that the router knows, in each
// direction: a list of router.FlowCount, as JSON.
func (l *Lab) Flows(ctx context.Context) (json.RawMessage, error) {
	return l.control.call(ctx, request{Op: opFlows})
}

// StartMachine starts a machine that no cloud knows and that everybody may
// reach. Its boot goes on afterwards. It ends with the lab.
func (l *Lab) StartMachine(ctx context.Context, spec vm.Spec) (addresses vm.Addresses, err error) {
	data, err := l.control.call(ctx, request{Op: opMachine, Machine: &spec})
	if err != nil {
		return addresses, err
	}
	return addresses, json.Unmarshal(data, &addresses)
}

// Done is closed when the lab is gone, or the connection to it.
func (l *Lab) Done() <-chan struct{} { return l.control.done() }

// Err says why Done was closed; nil before that, and after Close.
func (l *Lab) Err() error { return l.control.err() }

// Close ends a lab made by Start and returns when all of it is gone; one that
// was entered goes on without us. Safe to call twice.
func (l *Lab) Close() error { return l.control.close() }

// CheckName makes sure that a name is safe as a folder, and short enough for a
// socket's address.
func CheckName(name string) error {
	if len(name) == 0 || len(name) > 32 {
		return fmt.Errorf("lab name %.40q: must have 1 to 32 characters", name)
	}
	for i, c := range []byte(name) {
		alnum := '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !alnum && (i == 0 || c != '-' && c != '_') {
			return fmt.Errorf("lab name %q: only letters, digits, - and _, beginning with a letter or digit", name)
		}
	}
	return nil
}
