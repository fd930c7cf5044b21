package gcp

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/doortest"
	"github.com/antipode-bench/antipode/lab/door/model"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/providertest"
)

const (
	belgium = "europe-west1"
	oregon  = "us-west1"
)

// world is an account behind the lab's doors, with machines that are only
// remembered.
type world struct {
	*doortest.World
	witness  *model.Witness // of all that is said to the doors
	provider *Provider
}

const endpoint = "http://door.test"

// openWorld opens doors that are called without a network.
func openWorld(t *testing.T, faults door.Faults, way providertest.Way) *world {
	t.Helper()
	w := &world{World: doortest.Open(t, door.Options{
		Regions: []antipode.Region{{Cloud: Cloud, Name: belgium}, {Cloud: Cloud, Name: oregon}},
		IPv6:    []string{Cloud + ":" + belgium},
		Faults:  faults,
	})}
	w.witness = model.Watch(t, doortest.Direct(w.Doors.GCP()))
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
	p, err := New(t.Context(), Options{Endpoint: endpoint, HTTPClient: client, CallTimeout: timeout, Project: door.DefaultProject})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (w *world) reaches(m providers.Machine, protocol string, port int, from netip.Addr) bool {
	return w.Reaches(m.Public, protocol, port, from)
}

// untagged leaves out what has no labels.
func (w *world) untagged(key, value string) []string {
	return w.Untagged(key, value, providers.Instance, providers.Disk)
}

func (w *world) forSuite() providertest.World {
	return providertest.World{Provider: w.provider, Reaches: w.reaches, Left: w.Left, Untagged: w.untagged}
}

// suite is this cloud for the tests that every cloud has.
func suite() providertest.Cloud {
	return providertest.Cloud{
		Name:        Cloud,
		Regions:     [2]string{belgium, oregon},
		MachineType: DefaultMachineType,
		Open: func(t *testing.T, way providertest.Way) providertest.World {
			return openWorld(t, door.Faults{}, way).forSuite()
		},
		At: func(t *testing.T, to http.RoundTripper, timeout time.Duration) providers.Provider {
			return at(t, to, timeout)
		},
	}
}

func TestConformance(t *testing.T) { providertest.Run(t, suite()) }
