//go:build linux

package router

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/router/link"
)

// scratch is a network namespace for measuring and testing: a thread that lives
// in it and does what it is asked. What is opened there can be used anywhere.
type scratch struct {
	asked chan func()
	ended chan struct{}
	tid   int
}

func newScratch() (*scratch, error) {
	s := &scratch{asked: make(chan func()), ended: make(chan struct{})}
	entered := make(chan error)
	ownThread(func() { s.live(entered) })
	if err := <-entered; err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	return s, nil
}

// live leaves its thread in the namespace, which ends with it.
func (s *scratch) live(entered chan<- error) {
	err := unix.Unshare(unix.CLONE_NEWNET)
	s.tid = unix.Gettid()
	defer close(s.ended)
	entered <- err
	if err != nil {
		return
	}
	for f := range s.asked {
		f()
	}
}

// do runs f in the namespace.
func (s *scratch) do(f func() error) error {
	result := make(chan error)
	s.asked <- func() { result <- f() }
	return <-result
}

// close leaves the namespace, which ends when nothing opened in it is left.
func (s *scratch) close() {
	close(s.asked)
	<-s.ended
}

const (
	scratchDevice  = "eth0"
	carrierTimeout = 5 * time.Second
)

// Where the route of a veth link goes: names for RouterMAC.
var (
	gateway4 = netip.MustParseAddr("169.254.1.1")
	gateway6 = netip.MustParseAddr("fe80::1")
)

// connect gives s an interface with the address, and returns the router's end
// of it. A veth pair's other end is in the namespace host.
func (s *scratch) connect(kind link.Kind, host *scratch, addr netip.Addr) (*link.Link, error) {
	if kind == link.TUN {
		return s.connectTUN(addr)
	}
	return s.connectVeth(host, addr)
}

func (s *scratch) connectTUN(addr netip.Addr) (l *link.Link, err error) {
	err = s.do(func() error {
		if l, err = link.OpenTUN(scratchDevice); err != nil {
			return err
		}
		if err = configure(addr, netip.Addr{}); err != nil {
			return errors.Join(err, l.Close())
		}
		return nil
	})
	return l, err
}

func (s *scratch) connectVeth(host *scratch, addr netip.Addr) (l *link.Link, err error) {
	name, gateway := fmt.Sprintf("r%d", s.tid), gateway4
	if addr.Is6() {
		gateway = gateway6
	}
	mac := net.HardwareAddr{0x02, 0x61, 0x70, 0, 0, 1}
	err = host.do(func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.MTU = name, link.MTU
		pair := &netlink.Veth{
			LinkAttrs: attrs, PeerName: scratchDevice, PeerMTU: link.MTU,
			PeerHardwareAddr: mac, PeerNamespace: netlink.NsPid(s.tid),
		}
		if err := netlink.LinkAdd(pair); err != nil {
			return fmt.Errorf("make veth pair: %w", err)
		}
		if err := netlink.LinkSetUp(pair); err != nil {
			return err
		}
		l, err = link.OpenVeth(name, mac)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		s.do(func() error { return errors.Join(configure(addr, gateway), awaitCarrier(scratchDevice)) }),
		host.do(func() error { return awaitCarrier(name) }),
	)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// configure sets the namespace's interface up with the address and routes
// everything of its family to it, through via if that is valid.
func configure(addr, via netip.Addr) error {
	device, err := netlink.LinkByName(scratchDevice)
	if err != nil {
		return err
	}
	index := device.Attrs().Index
	everywhere := netip.IPv4Unspecified()
	if addr.Is6() {
		everywhere = netip.IPv6Unspecified()
	}
	route := &netlink.Route{LinkIndex: index, Scope: netlink.SCOPE_LINK, Dst: network(netip.PrefixFrom(everywhere, 0))}
	steps := []func() error{
		func() error {
			whole := netip.PrefixFrom(addr, addr.BitLen())
			return netlink.AddrAdd(device, &netlink.Addr{IPNet: network(whole), Flags: unix.IFA_F_NODAD})
		},
		func() error { return netlink.LinkSetUp(device) },
		func() error { return netlink.RouteAdd(route) },
	}
	if via.IsValid() {
		route.Scope, route.Gw, route.Flags = netlink.SCOPE_UNIVERSE, via.AsSlice(), int(netlink.FLAG_ONLINK)
		router := &netlink.Neigh{LinkIndex: index, IP: via.AsSlice(), HardwareAddr: link.RouterMAC(), State: netlink.NUD_PERMANENT}
		steps = slices.Insert(steps, 2,
			func() error { return netlink.LinkSetARPOff(device) },
			func() error { return netlink.NeighSet(router) })
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("configure %s with %s, step %d: %w", scratchDevice, addr, i+1, err)
		}
	}
	return awaitLocal(addr)
}

// awaitLocal waits until the kernel takes what comes for the address: of IPv6
// that is not at once, but when a worker has had time, and until then it drops it.
func awaitLocal(addr netip.Addr) error {
	if addr.Is4() {
		return nil
	}
	for deadline := time.Now().Add(carrierTimeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		routes, err := netlink.RouteGet(addr.AsSlice())
		if err == nil && len(routes) > 0 && routes[0].Type == unix.RTN_LOCAL {
			return nil
		}
	}
	return fmt.Errorf("%s is not the kernel's own after %s", addr, carrierTimeout)
}

func network(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// awaitCarrier waits until the kernel lets packets out of a fresh veth pair's
// end, which it does a little after both are up, and drops them until then.
func awaitCarrier(name string) error {
	for deadline := time.Now().Add(carrierTimeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		device, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		if device.Attrs().OperState == netlink.OperUp {
			return nil
		}
	}
	return fmt.Errorf("%s is not up after %s", name, carrierTimeout)
}
