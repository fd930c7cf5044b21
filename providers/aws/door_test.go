package aws

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	antipode "github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/doortest"
	"github.com/antipode-bench/antipode/lab/door/model"
	"github.com/antipode-bench/antipode/lab/door/rack"
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
	*doortest.World
	witness  *model.Witness // of all that is said to the doors
	provider *Provider
}

const endpoint = "http://door.test"

// openWorld opens doors that are called without a network.
func openWorld(t *testing.T, faults door.Faults, way providertest.Way) *world {
	t.Helper()
	return openLate(t, faults, way, door.Range{Min: time.Second, Max: 6 * time.Second}) // as late as EC2's lists may be
}

// openLate has lists that are as late as that.
func openLate(t *testing.T, faults door.Faults, way providertest.Way, late door.Range) *world {
	t.Helper()
	timing := rack.DefaultTiming()
	timing.Visible = late
	w := &world{World: doortest.Open(t, door.Options{
		Timing:  &timing,
		Regions: []antipode.Region{{Cloud: Cloud, Name: ireland}, {Cloud: Cloud, Name: ohio}, {Cloud: Cloud, Name: home("")}},
		IPv6:    []string{Cloud + ":" + ireland},
		Faults:  faults,
	})}
	w.witness = model.Watch(t, doortest.Direct(w.Doors.AWS()))
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
	return w.Reaches(m.Public, protocol, port, from)
}

func (w *world) untagged(key, value string) []string { return w.Untagged(key, value) }

func (w *world) forSuite() providertest.World {
	return providertest.World{Provider: w.provider, Reaches: w.reaches, Left: w.Left, Untagged: w.untagged}
}

// suite is this cloud for the tests that every cloud has.
func suite() providertest.Cloud {
	return providertest.Cloud{
		Name:        Cloud,
		Regions:     [2]string{ireland, ohio},
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
