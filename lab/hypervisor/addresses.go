package hypervisor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/antipode-bench/antipode/lab/vm"
)

// The lab's addresses. Public ones are from the block set aside for benchmarks
// (RFC 2544), so that none is anybody's; a region has a /16 of 10/8.
var (
	publicNet  = netip.MustParsePrefix("198.18.0.0/15")
	privateNet = netip.MustParsePrefix("10.0.0.0/8")
	ipv6Net    = netip.MustParsePrefix("2001:2::/48") // RFC 5180
)

const (
	firstPlace  = 1 << 8    // below are the lab's own, the controller's for one
	firstPublic = 2 << 8    // of machines that get any; below are those that are set aside
	endPublic   = 1<<17 - 1 // the last one is a broadcast address
	firstHost   = 4         // of a region: clouds keep the first few
	endHost     = 1<<16 - 1 // as above
	maxRegions  = 1<<8 - 1  // from 10.1.0.0/16 on
)

// ControllerAddress is where the controller is in the lab's internet.
func ControllerAddress() netip.Addr { return nth(publicNet, 2) }

// MaxPlaces is for how many regions an address is set aside.
const MaxPlaces = firstPublic - firstPlace - 2

// PlaceAddress is the address set aside for the n-th region, from 1 to MaxPlaces.
func PlaceAddress(n int) netip.Addr { return nth(publicNet, firstPlace+uint32(n)) }

// IPv6Besides is the IPv6 address that goes with a public one of IPv4.
func IPv6Besides(public netip.Addr) netip.Addr {
	b, last := ipv6Net.Addr().As16(), public.As4()
	copy(b[12:], last[:])
	return netip.AddrFrom16(b)
}

// setAside says whether an address is not one of those handed out to anybody.
func setAside(public netip.Addr) bool { return public.Less(nth(publicNet, firstPublic)) }

// addresses hands out addresses. A freed one comes back as late as possible: an
// old peer that still sends to it should not meet a new machine. Not safe for
// concurrent use.
type addresses struct {
	public  block
	regions []string          // index: the second byte of private addresses, less one
	private map[string]*block // by region
}

func newAddresses() *addresses {
	return &addresses{public: newBlock(publicNet, firstPublic, endPublic), private: make(map[string]*block)}
}

// take returns free ones for a region, "cloud:region". A public one that is set
// aside for the taker is given.
func (a *addresses) take(region string, public netip.Addr, ipv6 bool) (vm.Addresses, error) {
	private, err := a.region(region)
	if err != nil {
		return vm.Addresses{}, err
	}
	taken := vm.Addresses{Public: public}
	if !public.IsValid() {
		taken.Public, err = a.public.take()
	}
	if err != nil {
		return vm.Addresses{}, err
	}
	if taken.Private, err = private.take(); err != nil {
		a.freePublic(taken.Public)
		return vm.Addresses{}, err
	}
	if ipv6 {
		taken.IPv6 = IPv6Besides(taken.Public)
	}
	return taken, nil
}

func (a *addresses) free(region string, taken vm.Addresses) {
	a.freePublic(taken.Public)
	a.private[region].free(taken.Private)
}

func (a *addresses) freePublic(public netip.Addr) {
	if !setAside(public) {
		a.public.free(public)
	}
}

func (a *addresses) region(region string) (*block, error) {
	if b := a.private[region]; b != nil {
		return b, nil
	}
	if len(a.regions) == maxRegions {
		return nil, fmt.Errorf("more than %d regions", maxRegions)
	}
	a.regions = append(a.regions, region)
	prefix := netip.PrefixFrom(nth(privateNet, uint32(len(a.regions))<<16), 16)
	b := newBlock(prefix, firstHost, endHost)
	a.private[region] = &b
	return &b, nil
}

// block is a range of addresses: from next on nobody ever had, then the freed in
// the order of their return.
type block struct {
	prefix    netip.Prefix
	next, end uint32
	freed     []netip.Addr
}

func newBlock(prefix netip.Prefix, next, end uint32) block {
	return block{prefix: prefix, next: next, end: end}
}

var errNoAddress = errors.New("no address is free")

func (b *block) take() (netip.Addr, error) {
	if b.next < b.end {
		b.next++
		return nth(b.prefix, b.next-1), nil
	}
	if len(b.freed) == 0 {
		return netip.Addr{}, fmt.Errorf("%s: %w", b.prefix, errNoAddress)
	}
	a := b.freed[0]
	b.freed = slices.Delete(b.freed, 0, 1)
	return a, nil
}

func (b *block) free(a netip.Addr) { b.freed = append(b.freed, a) }

// nth is the n-th address of an IPv4 prefix.
func nth(p netip.Prefix, n uint32) netip.Addr {
	base := p.Masked().Addr().As4()
	binary.BigEndian.PutUint32(base[:], binary.BigEndian.Uint32(base[:])+n)
	return netip.AddrFrom4(base)
}
