package aws

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/model"
	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/vm/vmtest"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/providertest"
)

const (
	ireland = "eu-west-1"
	ohio    = "us-east-2"
)

// world is an account behind the lab's doors, with machines that are only
// remembered.
type world struct {
	machines *vmtest.Hypervisor
	doors    *door.Doors
	witness  *model.Witness // of all that is said to the doors
	provider *Provider
}

const endpoint = "http://door.test"

// openWorld opens doors that are called without a network.
func openWorld(t *testing.T, faults door.Faults, way providertest.Way) *world {
	t.Helper()
	w := &world{machines: vmtest.New()}
	timing := rack.DefaultTiming()
	timing.Visible = door.Range{Min: time.Second, Max: 6 * time.Second} // as late as EC2's lists may be
	var err error
	w.doors, err = door.New(door.Options{
		Timing:   &timing,
		Regions:  []antipode.Region{{Cloud: Cloud, Name: ireland}, {Cloud: Cloud, Name: ohio}, {Cloud: Cloud, Name: home("")}},
		Machines: w.machines,
		Faults:   faults,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.doors.Close(); err != nil {
			t.Errorf("close the doors: %v", err)
		}
	})
	w.witness = model.Watch(t, providertest.Direct(w.doors.AWS()))
	w.witness.Heard = heard(t)
	var to http.RoundTripper = w.witness
	if way != nil {
		to = way(to)
	}
	w.provider = at(t, to, providers.DefaultCallTimeout)
	return w
}

func at(t *testing.T, to http.RoundTripper, timeout time.Duration) *Provider {
	t.Helper()
	client := &http.Client{Transport: to}
	p, err := New(t.Context(), Options{Endpoint: endpoint, HTTPClient: client, CallTimeout: timeout,
		Credentials: credentials.NewStaticCredentialsProvider("AKIALAB", "secret", "")})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (w *world) reaches(m providers.Machine, protocol string, port int, from netip.Addr) bool {
	machine, _ := w.machines.Machine(m.ID)
	return slices.ContainsFunc(machine.Rules, func(r vm.Rule) bool {
		return (r.Protocol == protocol || r.Protocol == "all") && int(r.FromPort) <= port && port <= int(r.ToPort) &&
			slices.ContainsFunc(r.Sources, func(p netip.Prefix) bool { return p.Contains(from) })
	})
}

func (w *world) left() []string {
	var list []string
	for _, item := range w.doors.Inventory().Alive() {
		list = append(list, fmt.Sprint(item.Kind, " ", item.ID, " ", item.State))
	}
	return append(list, w.machines.Running()...)
}

func (w *world) untagged(key, value string) []string {
	var list []string
	for _, item := range w.doors.Inventory().Alive() {
		if got, ok := item.Tags[key]; !ok || got != value {
			list = append(list, fmt.Sprint(item.Kind, " ", item.ID, " ", item.Tags))
		}
	}
	return list
}

// suite is this cloud for the tests that every cloud has.
func suite() providertest.Cloud {
	return providertest.Cloud{
		Name:        Cloud,
		Regions:     [2]string{ireland, ohio},
		MachineType: DefaultMachineType,
		Open: func(t *testing.T, way providertest.Way) providertest.World {
			w := openWorld(t, door.Faults{}, way)
			return providertest.World{Provider: w.provider, Reaches: w.reaches, Left: w.left, Untagged: w.untagged}
		},
		At: func(t *testing.T, to http.RoundTripper, timeout time.Duration) providers.Provider {
			return at(t, to, timeout)
		},
	}
}

func TestConformance(t *testing.T) { providertest.Run(t, suite()) }
