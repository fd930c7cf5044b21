//go:build linux

package router

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"

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
	go s.live(entered)
	if err := <-entered; err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	return s, nil
}

// live never unlocks its thread, which therefore ends with it and takes the
// namespace along.
func (s *scratch) live(entered chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// The main thread would not end, and the process would seem to be in
		// its namespace. While it waits here the next try gets another one.
		go s.live(entered)
		<-s.ended
		runtime.UnlockOSThread()
		return
	}
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

const scratchDevice = "eth0"

// gateway is where the route of a veth link goes: a name for RouterMAC.
var gateway = net.IPv4(169, 254, 1, 1)

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
		if err = configure(addr, nil); err != nil {
			return errors.Join(err, l.Close())
		}
		return nil
	})
	return l, err
}

func (s *scratch) connectVeth(host *scratch, addr netip.Addr) (l *link.Link, err error) {
	name := fmt.Sprintf("r%d", s.tid)
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
	if err := s.do(func() error { return configure(addr, gateway) }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// configure sets the namespace's interface up with the address and everything
// routed to it, through via if there is one.
func configure(addr netip.Addr, via net.IP) error {
	device, err := netlink.LinkByName(scratchDevice)
	if err != nil {
		return err
	}
	prefix := &net.IPNet{IP: addr.AsSlice(), Mask: net.CIDRMask(addr.BitLen(), addr.BitLen())}
	if err := netlink.AddrAdd(device, &netlink.Addr{IPNet: prefix}); err != nil {
		return fmt.Errorf("add address %s: %w", addr, err)
	}
	index := device.Attrs().Index
	route := &netlink.Route{LinkIndex: index, Dst: &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}}
	if via != nil {
		if err := netlink.LinkSetARPOff(device); err != nil {
			return err
		}
		route.Gw, route.Flags = via, int(netlink.FLAG_ONLINK)
	} else {
		route.Scope = netlink.SCOPE_LINK
	}
	if err := netlink.LinkSetUp(device); err != nil {
		return err
	}
	if via != nil {
		if err := netlink.NeighSet(&netlink.Neigh{
			LinkIndex: index, IP: via, HardwareAddr: link.RouterMAC(), State: netlink.NUD_PERMANENT,
		}); err != nil {
			return fmt.Errorf("add neighbour: %w", err)
		}
	}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("add route: %w", err)
	}
	return nil
}
