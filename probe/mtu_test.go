//go:build linux

package probe

import (
	"net/netip"
	"testing"

	"github.com/antipode-bench/antipode/probe/wire"
)

// TestBracket finds every MTU exactly, within the rounds that there are.
func TestBracket(t *testing.T) {
	for mtu := usualMTUs[0]; mtu <= maxMTU; mtu += 1 + mtu/300 {
		b := bracket{failed: maxMTU + 1}
		rounds := 0
		for ; !b.known() && rounds < sizedRounds; rounds++ {
			b = b.learn(b.next(), func(size int) bool { return size <= mtu })
		}
		if !b.known() || b.passed != mtu {
			t.Errorf("%d: %+v after %d rounds", mtu, b, rounds)
		}
	}
	for _, mtu := range usualMTUs {
		b := bracket{failed: maxMTU + 1}
		for range 2 {
			b = b.learn(b.next(), func(size int) bool { return size <= mtu })
		}
		if !b.known() || b.passed != mtu {
			t.Errorf("usual %d: %+v after two rounds", mtu, b)
		}
	}
}

// TestBracketBelieves what passed, not what was lost.
func TestBracketBelieves(t *testing.T) {
	b := bracket{failed: maxMTU + 1}
	b = b.learn(b.next(), func(size int) bool { return size <= 1500 && size != 1280 })
	if b.passed != 1500 || b.failed != 8500 {
		t.Errorf("%+v", b)
	}
	if b = (bracket{failed: maxMTU + 1}).learn([]int{576}, func(int) bool { return false }); b.passed != 0 || b.known() {
		t.Errorf("%+v", b)
	}
}

func TestKindOf(t *testing.T) {
	for _, c := range []struct{ used, own, want string }{
		{"8.8.8.8", "8.8.8.8", wire.AddressPublic},
		{"8.8.8.8", "10.0.0.1", wire.AddressNAT},
		{"10.0.0.1", "10.0.0.1", wire.AddressPrivate},
		{"100.64.1.1", "100.64.1.1", wire.AddressPrivate},
		{"fd00::1", "fd00::1", wire.AddressPrivate},
		{"2001:db8::1", "2001:db8::1", wire.AddressPublic},
		{"127.0.0.1", "127.0.0.1", wire.AddressLoopback},
		{"::1", "::1", wire.AddressLoopback},
		{"fe80::1%eth0", "fe80::1", wire.AddressLinkLocal},
		{"::ffff:10.0.0.1", "10.0.0.1", wire.AddressPrivate},
		{"10.0.0.1", "", ""},
	} {
		own, _ := netip.ParseAddr(c.own)
		if got := kindOf(netip.MustParseAddr(c.used), own); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.used, c.own, got, c.want)
		}
	}
}

func TestChecksum(t *testing.T) {
	// The example of RFC 1071, section 3.
	if got := checksum([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}); got != ^uint16(0xddf2) {
		t.Errorf("%#x", got)
	}
}
