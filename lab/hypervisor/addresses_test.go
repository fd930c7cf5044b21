package hypervisor

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/antipode-bench/antipode/lab/vm"
)

func TestAddresses(t *testing.T) {
	a := newAddresses()
	steps := []struct{ region, public, private, ipv6 string }{
		{"aws:us-east-1", "198.18.2.0", "10.1.0.4", ""},
		{"gcp:us-east1", "198.18.2.1", "10.2.0.4", "2001:2::c612:201"},
		{"aws:us-east-1", "198.18.2.2", "10.1.0.5", ""},
	}
	for _, s := range steps {
		want := vm.Addresses{Public: netip.MustParseAddr(s.public), Private: netip.MustParseAddr(s.private)}
		if s.ipv6 != "" {
			want.IPv6 = netip.MustParseAddr(s.ipv6)
		}
		got, err := a.take(s.region, netip.Addr{}, s.ipv6 != "")
		if err != nil || got != want {
			t.Errorf("take(%q) = %v, %v; want %v", s.region, got, err, want)
		}
	}
}

func TestFreedAddressComesBackLast(t *testing.T) {
	b := newBlock(netip.MustParsePrefix("10.1.0.0/16"), 4, 7)
	first, _ := b.take()
	b.free(first)
	for _, want := range []string{"10.1.0.5", "10.1.0.6", "10.1.0.4"} {
		if got, err := b.take(); err != nil || got != netip.MustParseAddr(want) {
			t.Errorf("take = %v, %v; want %s", got, err, want)
		}
	}
	if _, err := b.take(); !errors.Is(err, errNoAddress) {
		t.Errorf("take from an empty block = %v; want %v", err, errNoAddress)
	}
}

func TestTooManyRegions(t *testing.T) {
	a := newAddresses()
	for i := range maxRegions {
		if _, err := a.take(string(rune('a'+i)), netip.Addr{}, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.take("one more", netip.Addr{}, false); err == nil {
		t.Error("take gave an address of a 256th region")
	}
}

// TestSetAside: an address of a region's own is given as often as it is asked for,
// and to nobody else.
func TestSetAside(t *testing.T) {
	a := newAddresses()
	own := PlaceAddress(MaxPlaces)
	for range 2 {
		got, err := a.take("aws:us-east-1", own, true)
		if err != nil || got.Public != own || got.IPv6 != IPv6Besides(own) {
			t.Errorf("take = %v, %v; want %v and its IPv6 address", got, err, own)
		}
		a.free("aws:us-east-1", got)
	}
	a.public.next = a.public.end // all others are taken
	if got, err := a.take("aws:us-east-1", netip.Addr{}, false); !errors.Is(err, errNoAddress) {
		t.Errorf("take = %v, %v; want %v", got, err, errNoAddress)
	}
}
