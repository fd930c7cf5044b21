package machine

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// privateNet is where private addresses come from: what goes there leaves with
// the machine's private address as its source, the rest with the public one.
var privateNet = netip.MustParsePrefix("10.0.0.0/8")

// A veth machine sends everything to a gateway that exists only as a
// neighbour entry with the router's hardware address.
var (
	gateway4 = netip.MustParseAddr("169.254.0.1")
	gateway6 = netip.MustParseAddr("fe80::1")
)

// carrierLimit bounds the wait for the router's end of a veth.
const carrierLimit = 5 * time.Second

// plug makes the link's interface, still down, so that nothing answers yet.
// tun is nil for a link that is none.
func (l Link) plug() (tun *os.File, err error) {
	if l.Kind == LinkTUN {
		return openTUN(l.Name)
	}
	if _, err := netlink.LinkByName(l.Name); err != nil {
		return nil, fmt.Errorf("link: find %s: %w", l.Name, err)
	}
	return nil, nil
}

// queuePackets wait for a router that a busy computer keeps from reading. A TUN
// device's own 500 are a tenth of a second of datagrams at 50 Mbit/s, and what it
// drops then is in nobody's count.
const queuePackets = 5000

// Up brings the loopback and the link up with addresses and routes.
func (l Link) Up() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("link: find lo: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("link: lo up: %w", err)
	}
	eth, err := netlink.LinkByName(l.Name)
	if err != nil {
		return fmt.Errorf("link: find %s: %w", l.Name, err)
	}
	if l.Kind == LinkVeth {
		if err := netlink.LinkSetARPOff(eth); err != nil {
			return fmt.Errorf("link: %s ARP off: %w", l.Name, err)
		}
	}
	if err := l.silenceIPv6(eth); err != nil {
		return err
	}
	if err := netlink.LinkSetMTU(eth, l.MTU); err != nil {
		return fmt.Errorf("link: %s MTU %d: %w", l.Name, l.MTU, err)
	}
	if err := netlink.LinkSetTxQLen(eth, queuePackets); err != nil {
		return fmt.Errorf("link: %s queue: %w", l.Name, err)
	}
	if err := netlink.LinkSetUp(eth); err != nil {
		return fmt.Errorf("link: %s up: %w", l.Name, err)
	}
	if err := l.address(eth); err != nil {
		return err
	}
	return l.waitCarrier()
}

// silenceIPv6 keeps the kernel from making a link-local address, which it would
// solicit routers from: the lab has none that answers.
func (l Link) silenceIPv6(eth netlink.Link) error {
	if !l.hasIPv6() {
		return nil
	}
	const none = 1 // IN6_ADDR_GEN_MODE_NONE of linux/if_link.h
	if err := netlink.LinkSetIP6AddrGenMode(eth, none); err != nil {
		return fmt.Errorf("link: no link-local address for %s (does this computer's kernel have IPv6?): %w", l.Name, err)
	}
	return nil
}

func (l Link) hasIPv6() bool { return l.Public.Is6() || l.Private.Is6() || l.IPv6.IsValid() }

// waitCarrier waits until a veth carries packets. The kernel notices the
// carrier a moment after both ends are up and drops what is sent before: a
// lost SYN would cost its sender a second.
func (l Link) waitCarrier() error {
	if l.Kind != LinkVeth {
		return nil
	}
	for deadline := time.Now().Add(carrierLimit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		eth, err := netlink.LinkByName(l.Name)
		if err != nil {
			return fmt.Errorf("link: find %s: %w", l.Name, err)
		}
		if eth.Attrs().OperState == netlink.OperUp {
			return nil
		}
	}
	return fmt.Errorf("link: %s has no carrier after %s: its other end is not up", l.Name, carrierLimit)
}

// down takes the machine off the net.
func (l Link) down() error {
	eth, err := netlink.LinkByName(l.Name)
	if err != nil {
		return fmt.Errorf("link: find %s: %w", l.Name, err)
	}
	if err := netlink.LinkSetDown(eth); err != nil {
		return fmt.Errorf("link: %s down: %w", l.Name, err)
	}
	return nil
}

// address gives the interface the machine's addresses and the routes out.
func (l Link) address(eth netlink.Link) error {
	for _, a := range []netip.Addr{l.Public, l.Private, l.IPv6} {
		if !a.IsValid() {
			continue
		}
		addr := &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(a, a.BitLen())), Flags: unix.IFA_F_NODAD}
		if err := netlink.AddrReplace(eth, addr); err != nil {
			return fmt.Errorf("link: %s address %s: %w", l.Name, a, err)
		}
	}
	for _, r := range l.routes() {
		if err := l.route(eth, r); err != nil {
			return err
		}
	}
	return nil
}

// route is one way out: to has from as the source address.
type route struct {
	to   netip.Prefix
	from netip.Addr
}

func (l Link) routes() []route {
	first := l.Public
	if !first.IsValid() {
		first = l.Private
	}
	routes := []route{{netip.PrefixFrom(unspecified(first), 0), first}}
	if privateNet.Contains(l.Private) {
		routes = append(routes, route{privateNet, l.Private})
	}
	if l.IPv6.IsValid() {
		routes = append(routes, route{netip.PrefixFrom(netip.IPv6Unspecified(), 0), l.IPv6})
	}
	return routes
}

// route installs r: straight into a TUN, through the gateway over a veth.
func (l Link) route(eth netlink.Link, r route) error {
	nr := &netlink.Route{
		LinkIndex: eth.Attrs().Index,
		Dst:       ipNet(r.to),
		Src:       r.from.AsSlice(),
		Scope:     netlink.SCOPE_LINK,
	}
	if l.Kind == LinkVeth {
		gw := gateway4
		if r.from.Is6() {
			gw = gateway6
		}
		if err := l.neighbour(eth, gw); err != nil {
			return err
		}
		nr.Gw, nr.Scope, nr.Flags = gw.AsSlice(), netlink.SCOPE_UNIVERSE, int(netlink.FLAG_ONLINK)
	}
	if err := netlink.RouteReplace(nr); err != nil {
		return fmt.Errorf("link: route to %s from %s: %w", r.to, r.from, err)
	}
	return nil
}

func (l Link) neighbour(eth netlink.Link, gw netip.Addr) error {
	mac, err := net.ParseMAC(l.PeerMAC)
	if err != nil {
		return fmt.Errorf("link: peer MAC: %w", err)
	}
	n := &netlink.Neigh{
		LinkIndex: eth.Attrs().Index, State: netlink.NUD_PERMANENT, IP: gw.AsSlice(), HardwareAddr: mac,
	}
	if err := netlink.NeighSet(n); err != nil {
		return fmt.Errorf("link: neighbour %s: %w", gw, err)
	}
	return nil
}

func unspecified(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
