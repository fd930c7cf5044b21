package gcp

import (
	"cloud.google.com/go/compute/apiv1/computepb"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/lab/door"
	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/providertest"
)

func testSpec(region string) providers.Spec {
	return providers.Spec{
		Run:    providers.Run{ID: "r1", Expires: time.Now().Add(time.Hour)},
		Region: region, MachineType: DefaultMachineType,
		AuthorizedKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",
		SSHFrom:       netip.MustParseAddr("198.18.0.1"),
	}
}

func TestBadDays(t *testing.T) {
	call := func(name string, kind fault.Kind, count int) door.Faults {
		return door.Faults{Calls: []fault.Call{{Call: name, Kind: kind, Count: count}}}
	}
	inZone := func(kind fault.Kind) door.Faults {
		return door.Faults{Calls: []fault.Call{{Place: fault.Place{Zone: belgium + "-b"}, Call: "instances.insert", Kind: kind}}}
	}
	day := func(faults door.Faults, want providers.Kind, zone string) providertest.BadDay {
		return providertest.BadDay{Want: want, Zone: zone,
			Open: func(t *testing.T) providertest.World { return openWorld(t, faults, nil).forSuite() }}
	}
	suite().BadDays(t, map[string]providertest.BadDay{
		"fair weather":                day(door.Faults{}, "", belgium+"-b"),
		"throttled":                   day(call("", fault.Throttle, 5), "", ""),
		"throttled for ever":          day(call("networks.insert", fault.Throttle, 0), providers.Throttle, ""),
		"server errors":               day(call("firewalls.insert", fault.Error500, 3), "", ""),
		"first zone full":             day(inZone(fault.Capacity), "", belgium+"-c"),
		"first zone full, known late": day(inZone(fault.LateCapacity), "", belgium+"-c"),
		"all zones full":              day(call("instances.insert", fault.Capacity, 0), providers.Capacity, ""),
		"all zones full, known late":  day(call("instances.insert", fault.LateCapacity, 0), providers.Capacity, ""),
		"over quota":                  day(call("instances.insert", fault.Quota, 0), providers.Quota, ""),
		"not allowed":                 day(call("instances.insert", fault.Denied, 0), providers.Auth, ""),
		"silent at last":              day(call("instances.getGuestAttributes", fault.Silent, 0), providers.Timeout, ""),
		"silent once":                 day(call("instances.insert", fault.Silent, 1), "", ""),
		"never boots":                 day(door.Faults{Machines: []fault.Machine{{NeverBoot: true}}}, providers.Timeout, ""),
	})
}

// What a real cloud would have disliked without saying so, the lab notes.
func TestNothingDisliked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{}, nil)
		if _, err := w.provider.Launch(t.Context(), testSpec(belgium)); err != nil {
			t.Fatal(err)
		}
		if disliked := w.Disliked(); len(disliked) > 0 {
			t.Error(disliked)
		}
	})
}

// The SDK's lists lose their context; over a real connection, a cancelled one
// must end all the same, at the server too.
func TestListOfSilentServerIsCutOff(t *testing.T) {
	ended := make(chan struct{}, 16)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get(callHeader) != "" {
			t.Errorf("the header %s left the process", callHeader)
		}
		<-r.Context().Done()
		ended <- struct{}{}
	}))
	defer server.Close()
	p, err := New(t.Context(), Options{Endpoint: server.URL, Project: "p", CallTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.List(t.Context(), "r1", []string{belgium}); providers.KindOf(err) != providers.Timeout {
		t.Errorf("List: %v, want a time-out", err)
	}
	for range 10 { // five lists, two tries each
		<-ended
	}
}

func TestNoCredentials(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	t.Setenv("GOOGLE_CLOUD_PROJECT", "")
	_, err := New(t.Context(), Options{})
	if providers.KindOf(err) != providers.Auth || !strings.Contains(err.Error(), "gcloud auth application-default login") {
		t.Errorf("err = %v, want one that says what to set", err)
	}
	_, err = New(t.Context(), Options{Endpoint: endpoint})
	if providers.KindOf(err) != providers.Auth || !strings.Contains(err.Error(), "GOOGLE_CLOUD_PROJECT") {
		t.Errorf("err = %v, want one that names GOOGLE_CLOUD_PROJECT", err)
	}
}

// A machine that had to go to the second zone is the one that is adopted,
// though the first has room again.
func TestAdoptsInWhateverZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := fault.Call{Place: fault.Place{Zone: belgium + "-b"}, Call: "instances.insert", Kind: fault.Capacity, Count: 1}
		w := openWorld(t, door.Faults{Calls: []fault.Call{full}}, nil)
		spec := testSpec(belgium)
		providertest.SecondBest(t, w.provider, spec, DefaultMachineType, belgium+"-c", w.Machines.Running)
	})
}

// Where no zone has room for a machine type, the next one is taken, with the
// image that fits it; a resume adopts it as it is.
func TestNextMachineType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := fault.Call{Call: "instances.insert", Kind: fault.Capacity, Count: 3} // as many as there are zones
		w := openWorld(t, door.Faults{Calls: []fault.Call{full}}, nil)
		spec := testSpec(belgium)
		spec.OtherTypes = []string{"t2a-standard-1", "n2-standard-2"}
		providertest.SecondBest(t, w.provider, spec, spec.OtherTypes[0], belgium+"-b", w.Machines.Running)
	})
}

// The tier is what was asked for, and premium where nothing was.
func TestNetworkTier(t *testing.T) {
	for asked, want := range map[string]string{"": "PREMIUM", providers.PremiumTier: "PREMIUM", providers.StandardTier: "STANDARD"} {
		synctest.Test(t, func(t *testing.T) {
			w := openWorld(t, door.Faults{}, nil)
			spec := testSpec(belgium)
			spec.NetworkTier = asked
			m, err := w.provider.Launch(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			i, err := w.provider.instances.Get(t.Context(), &computepb.GetInstanceRequest{Project: door.DefaultProject, Zone: m.Zone, Instance: m.ID})
			if got := i.GetNetworkInterfaces()[0].GetAccessConfigs()[0].GetNetworkTier(); got != want || err != nil {
				t.Errorf("%q: tier %s, %v; want %s", asked, got, err, want)
			}
		})
	}
}
