package orchestrator

import (
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/results"
)

func TestAddress(t *testing.T) {
	four, private, six := netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:2::1")
	none := netip.Addr{}
	for name, tt := range map[string]struct {
		choice  Choice
		machine providers.Machine
		want    netip.Addr
		version string
	}{
		"nothing chosen":   {Choice{}, providers.Machine{Public: four, Private: private, IPv6: six}, four, "4"},
		"private":          {Choice{Path: PathPrivate}, providers.Machine{Public: four, Private: private, IPv6: six}, private, "4"},
		"IPv6":             {Choice{IP: 6}, providers.Machine{Public: four, Private: private, IPv6: six}, six, "6"},
		"IPv6 that is not": {Choice{IP: 6}, providers.Machine{Public: four, Private: private}, none, "6"},
		"IPv6 only":        {Choice{IP: 6}, providers.Machine{Public: six, IPv6: six}, six, "6"},
		"IPv4 that is not": {Choice{IP: 4}, providers.Machine{Public: six, IPv6: six}, none, "4"},
	} {
		got := tt.choice.address(tt.machine)
		if err := tt.choice.addressed(tt.machine); got != tt.want || (err == nil) != got.IsValid() || tt.choice.version() != tt.version {
			t.Errorf("%s: %v over IPv%s, %v; want %v", name, got, tt.choice.version(), err, tt.want)
		}
	}
}

func TestChoiceCheck(t *testing.T) {
	for _, c := range []Choice{{}, {IP: 4, Path: PathPrivate}, {IP: 6, Path: PathPublic}} {
		if err := c.check(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Choice{{IP: 5}, {IP: 6, Path: PathPrivate}} {
		if c.check() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

// TestRunIPv6: a machine without such an address is no reason not to measure
// the others; one that is replaced introduces itself at its new one.
func TestRunIPv6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(6)
		cfg.Choice.IP = 6
		without := "aws:us-east-1"
		p.faults[without] = fault{noIPv6: true}
		p.faults[taken] = fault{taken: 20 * time.Second}
		d := p.run(t.Context(), cfg)
		if d.err != nil || d.Teardown != nil || d.counts() != [3]int{20, 0, 10} {
			t.Fatalf("Run = %+v, %v", d.Summary, d.err)
		}
		want := []string{without + ": launch: check addresses: the machine has no public IPv6 address"}
		if got := d.errorsOf(results.StatusSkipped); !slices.Equal(got, want) {
			t.Errorf("skipped because of %q, want %q", got, want)
		}
		for _, r := range d.rows {
			if r.IPVersion != "6" {
				t.Errorf("row %+v", r)
			}
		}
		if p.made != 7 {
			t.Errorf("%d machines were made, want 6 and one in place of %s's", p.made, taken)
		}
	})
}
