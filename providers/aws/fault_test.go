package aws

import (
	"context"
	"errors"
	"net/netip"
	"os"
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

func testSpec(t *testing.T, region string) providers.Spec {
	t.Helper()
	pem, err := os.ReadFile(filepath.Join("testdata", "hostkey"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(filepath.Join("testdata", "hostkey.pub"))
	if err != nil {
		t.Fatal(err)
	}
	return providers.Spec{
		Run:    providers.Run{ID: "r1", Expires: time.Now().Add(time.Hour)},
		Region: region, MachineType: DefaultMachineType,
		AuthorizedKey: string(public), HostKey: string(public), HostKeyPEM: pem,
		SSHFrom: netip.MustParseAddr("198.18.0.1"),
	}
}

func TestBadDays(t *testing.T) {
	call := func(name string, kind fault.Kind, count int) door.Faults {
		return door.Faults{Calls: []fault.Call{{Call: name, Kind: kind, Count: count}}}
	}
	inZone := func(kind fault.Kind) door.Faults {
		return door.Faults{Calls: []fault.Call{{Place: fault.Place{Zone: ireland + "a"}, Call: "RunInstances", Kind: kind}}}
	}
	day := func(faults door.Faults, want providers.Kind, zone string) providertest.BadDay {
		return providertest.BadDay{Want: want, Zone: zone,
			Open: func(t *testing.T) providertest.World { return openWorld(t, faults, nil).forSuite() }}
	}
	notOptedIn := day(door.Faults{OptedOut: []string{ireland}}, providers.Skip, "")
	notOptedIn.Says = "has not enabled this region"
	suite().BadDays(t, map[string]providertest.BadDay{
		"fair weather":                day(door.Faults{}, "", ireland+"a"),
		"throttled":                   day(call("", fault.Throttle, 5), "", ""),
		"throttled for ever":          day(call("ImportKeyPair", fault.Throttle, 0), providers.Throttle, ""),
		"server errors":               day(call("CreateSecurityGroup", fault.Error500, 3), "", ""),
		"first zone full":             day(inZone(fault.Capacity), "", ireland+"b"),
		"first zone full, known late": day(inZone(fault.LateCapacity), "", ireland+"b"),
		"all zones full":              day(call("RunInstances", fault.Capacity, 0), providers.Capacity, ""),
		"all zones full, known late":  day(call("RunInstances", fault.LateCapacity, 0), providers.Capacity, ""),
		"over quota":                  day(call("RunInstances", fault.Quota, 0), providers.Quota, ""),
		"not allowed":                 day(call("RunInstances", fault.Denied, 0), providers.Auth, ""),
		"silent at last":              day(call("RunInstances", fault.Silent, 0), providers.Timeout, ""),
		"silent once":                 day(call("RunInstances", fault.Silent, 1), "", ""),
		"not opted in":                notOptedIn,
	})
}

// What a real cloud would have disliked without saying so, the lab notes.
func TestNothingDisliked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{}, nil)
		if _, err := w.provider.Launch(t.Context(), testSpec(t, ireland)); err != nil {
			t.Fatal(err)
		}
		if disliked := w.Disliked(); len(disliked) > 0 {
			t.Error(disliked)
		}
	})
}

func TestNoCredentials(t *testing.T) {
	for _, name := range []string{"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(name, "")
	}
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("AWS_CONFIG_FILE", none)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true") // the test asks nobody
	ctx, cancel := context.WithTimeout(t.Context(), 2*credentialsLimit)
	defer cancel()
	for name, opts := range map[string]Options{"none": {}, "unknown profile": {Profile: "nobody"}, "none for the lab": {Endpoint: endpoint}} {
		_, err := New(ctx, opts)
		e, ok := errors.AsType[*providers.Error](err)
		if !ok || e.Kind != providers.Auth || e.Cloud != Cloud || ctx.Err() != nil {
			t.Errorf("%s: err = %v, want one that says what to set, soon", name, err)
		}
	}
}

// A machine that had to go to the second zone is the one that is adopted,
// though the first has room again.
func TestAdoptsInWhateverZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := fault.Call{Place: fault.Place{Zone: ireland + "a"}, Call: "RunInstances", Kind: fault.Capacity, Count: 1}
		w := openWorld(t, door.Faults{Calls: []fault.Call{full}}, nil)
		spec := testSpec(t, ireland)
		providertest.SecondBest(t, w.provider, spec, DefaultMachineType, ireland+"b", w.Machines.Running)
	})
}

// Where no zone has room for a machine type, the next one is taken, with the
// image that fits it; a resume adopts it as it is.
func TestNextMachineType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := fault.Call{Call: "RunInstances", Kind: fault.Capacity, Count: 3} // as many as there are zones
		w := openWorld(t, door.Faults{Calls: []fault.Call{full}}, nil)
		spec := testSpec(t, ireland)
		spec.OtherTypes = []string{"t4g.nano", "t3a.nano"}
		providertest.SecondBest(t, w.provider, spec, spec.OtherTypes[0], ireland+"a", w.Machines.Running)
	})
}

// A type that the region does not have is passed over; only one it has none of
// leaves the region out.
func TestMachineTypesNobodyOffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(t, door.Faults{}, nil)
		spec := testSpec(t, ireland)
		spec.MachineType, spec.OtherTypes = "x9.metal", []string{"t3.micro"}
		if m, err := w.provider.Launch(t.Context(), spec); err != nil || m.Type != "t3.micro" {
			t.Errorf("Launch = %s, %v; want the type that there is", m.Type, err)
		}
		spec.Run.ID, spec.OtherTypes = "r2", nil
		if _, err := w.provider.Launch(t.Context(), spec); providers.KindOf(err) != providers.Skip || !strings.Contains(err.Error(), "x9.metal") {
			t.Errorf("Launch: %v, want one that skips the region and names the type", err)
		}
	})
}

// A spot machine that is taken away before it runs leaves its zone for the next.
func TestSpotTakenWhileLaunching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := fault.Machine{Place: fault.Place{Zone: ireland + "a"}, SpotTakenAfterS: 0.001, Count: 1}
		w := openWorld(t, door.Faults{Machines: []fault.Machine{taken}}, nil)
		spec := testSpec(t, ireland)
		spec.Spot = true
		if m, err := w.provider.Launch(t.Context(), spec); err != nil || m.Zone != ireland+"b" {
			t.Errorf("Launch = %s, %v; want the second zone", m.Zone, err)
		}
	})
}
