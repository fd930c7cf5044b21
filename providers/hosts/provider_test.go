package hosts

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/providertest"
)

func TestConformance(t *testing.T) {
	list := load(t, "good.yaml")
	providertest.RunLent(t, providertest.Cloud{
		Name: Cloud, Regions: [2]string{"attic", "cellar"}, MachineType: MachineType,
		Open: func(*testing.T, providertest.Way) providertest.World {
			return providertest.World{Provider: New(list), Left: func() []string { return nil }}
		},
	})
}

func spec(name string) providers.Spec {
	return providers.Spec{
		Run: providers.Run{ID: "r1", Expires: time.Now().Add(time.Hour)}, Region: name, MachineType: MachineType,
		AuthorizedKey: "ssh-ed25519 AAAA", SSHFrom: netip.MustParseAddr("192.0.2.1"),
	}
}

func TestLaunch(t *testing.T) {
	p := New(load(t, "good.yaml"))
	got, err := p.Launch(t.Context(), spec("cellar"))
	want := providers.Machine{
		Cloud: Cloud, Region: "cellar", ID: "cellar", Type: MachineType, Public: netip.MustParseAddr("192.0.2.11"),
		User: "probe.user", SSHPort: 2222, ProbePort: 9000, Lent: true,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}), cmpopts.IgnoreFields(got, "HostKey")); err != nil || diff != "" {
		t.Errorf("Launch: %v (-want +got):\n%s", err, diff)
	}
	if !strings.HasPrefix(got.HostKey, "ssh-ed25519 AAAA") {
		t.Errorf("host key = %q", got.HostKey)
	}
	if signers, err := p.Signers(got); err != nil || len(signers) != 1 {
		t.Errorf("Signers = %d, %v", len(signers), err)
	}
	two, err := p.Launch(t.Context(), spec("attic"))
	if err != nil || strings.Count(two.HostKey, "\n") != 2 {
		t.Errorf("host keys of attic = %q, %v; want a line for each of two", two.HostKey, err)
	}
}

// TestVersions: a host is skipped where the run measures over a version of IP
// that it has no address of.
func TestVersions(t *testing.T) {
	p := New(load(t, "good.yaml"))
	for name, ok := range map[string][2]bool{"attic": {true, true}, "cellar": {true, false}, "barn": {false, true}} {
		for i, ipv6 := range []bool{false, true} {
			s := spec(name)
			s.IPv6 = ipv6
			m, err := p.Launch(t.Context(), s)
			if ok[i] && (err != nil || ipv6 && !m.IPv6.Is6() || !ipv6 && !m.Public.Is4()) {
				t.Errorf("%s with IPv6 %v: %+v, %v", name, ipv6, m, err)
			}
			if !ok[i] && (providers.KindOf(err) != providers.Skip || !strings.Contains(err.Error(), "IPv6")) {
				t.Errorf("%s with IPv6 %v: %v, want an error of kind %s", name, ipv6, err, providers.Skip)
			}
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	p := New(load(t, "good.yaml"))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, launch := p.Launch(cancelled, spec("attic"))
	_, signers := p.Signers(providers.Machine{Region: "roof"})
	for name, tt := range map[string]struct {
		err  error
		kind providers.Kind
	}{
		"cancelled":          {launch, providers.Canceled},
		"admit to nowhere":   {p.Admit(t.Context(), providers.Run{}, "roof", 1, nil), providers.Unknown},
		"keys of nowhere":    {signers, providers.Unknown},
		"destroy everything": {p.Destroy(t.Context(), "", nil), providers.Unknown},
	} {
		if e, ok := errors.AsType[*providers.Error](tt.err); !ok || e.Cloud != Cloud || e.Kind != tt.kind {
			t.Errorf("%s: err = %v, want one of hosts, of kind %s", name, tt.err, tt.kind)
		}
	}
}
