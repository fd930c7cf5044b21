package providertest

import (
	"net/netip"
	"testing"

	"github.com/antipode-bench/antipode/providers"
)

func admit(t *testing.T, p providers.Provider, r providers.Run, region string, peers []netip.Addr) {
	t.Helper()
	if err := p.Admit(testContext(t), r, region, probePort, peers); err != nil {
		t.Fatalf("Admit of %d peers in %s: %v", len(peers), region, err)
	}
}

// wantIn checks both protocols of the probe port.
func wantIn(t *testing.T, w World, m providers.Machine, want bool, peers ...netip.Addr) {
	t.Helper()
	for _, peer := range peers {
		for _, protocol := range []string{"tcp", "udp"} {
			if got := w.Reaches(m, protocol, probePort, peer); got != want {
				t.Errorf("%v reaches %s/%d: %t, want %t", peer, protocol, probePort, got, want)
			}
		}
	}
}

func testAdmit(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	r := run("r1")
	m := launch(t, p, c.spec(t, r, c.Regions[0]))
	other := launch(t, p, c.spec(t, r, c.Regions[1]))
	first, second := peers(0, 2), peers(2, 3)
	admit(t, p, r, c.Regions[0], first)
	wantIn(t, w, m, true, first...)
	wantIn(t, w, m, false, append(second, stranger, controller)...)
	wantIn(t, w, other, false, first...)
	admit(t, p, r, c.Regions[0], append(first, second...))
	admit(t, p, r, c.Regions[0], second)
	wantIn(t, w, m, true, append(first, second...)...)
	wantIn(t, w, m, false, stranger)
	if w.Reaches(m, "tcp", probePort+1, first[0]) || w.Reaches(m, "tcp", 22, first[0]) {
		t.Errorf("a peer reaches more than the probe port")
	}
	if !w.Reaches(m, "tcp", 22, controller) {
		t.Errorf("Admit has shut the controller out")
	}
	destroyed(t, w, "r1", c.Regions[:]...)
}

// Every other machine of the largest sweep, in two helpings.
func testAdmitMany(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	r := run("r1")
	m := launch(t, p, c.spec(t, r, c.Regions[0]))
	all := peers(0, 76)
	admit(t, p, r, c.Regions[0], all[:40])
	admit(t, p, r, c.Regions[0], all)
	wantIn(t, w, m, true, all...)
	wantIn(t, w, m, false, stranger)
	destroyed(t, w, "r1", c.Regions[0])
}

func testAdmitNobody(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	r := run("r1")
	m := launch(t, p, c.spec(t, r, c.Regions[0]))
	admit(t, p, r, c.Regions[0], nil)
	wantIn(t, w, m, false, stranger, controller)
	destroyed(t, w, "r1", c.Regions[0])
}
