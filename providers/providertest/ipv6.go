package providertest

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/antipode-bench/antipode/providers"
)

// testLaunchIPv6: the first region has IPv6, and the second has none. Who wants
// none gets none.
func testLaunchIPv6(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	r := run("r1")
	spec := c.spec(t, r, c.Regions[0])
	spec.IPv6 = true
	m := launch(t, p, spec)
	if !m.IPv6.Is6() || !m.Public.Is4() {
		t.Errorf("addresses = %v, %v; want one of each version", m.Public, m.IPv6)
	}
	if again := launch(t, p, spec); again.IPv6 != m.IPv6 {
		t.Errorf("the same spec gave %v, then %v", m.IPv6, again.IPv6)
	}
	peer, stranger := netip.MustParseAddr("2001:2::7"), netip.MustParseAddr("2001:2::8")
	admit(t, p, r, c.Regions[0], []netip.Addr{peer})
	wantIn(t, w, m, true, peer)
	wantIn(t, w, m, false, stranger)

	spec = c.spec(t, r, c.Regions[1])
	if m := launch(t, p, spec); m.IPv6.IsValid() {
		t.Errorf("a machine that needs none has the address %v", m.IPv6)
	}
	destroyed(t, w, "r1", c.Regions[:]...)
	spec = c.spec(t, run("r2"), c.Regions[1])
	spec.IPv6 = true
	if _, err := p.Launch(testContext(t), spec); providers.KindOf(err) != providers.Skip || !strings.Contains(err.Error(), "IPv6") {
		t.Errorf("Launch without IPv6 in the region = %v, want an error of kind %s", err, providers.Skip)
	}
	destroyed(t, w, "r2", c.Regions[1])
}
