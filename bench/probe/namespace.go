//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const (
	device = "eth0"
	mtu    = 1500
)

// namespace is a network of its own, held by a thread that lives in it.
type namespace struct {
	addr  string // of its interface
	asked chan func()
	tid   int
}

// newNamespace has a loopback interface that is up, and ends with the program.
func newNamespace(addr string) (*namespace, error) {
	n := &namespace{addr: addr, asked: make(chan func())}
	entered := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is no good for anything else
		err := unix.Unshare(unix.CLONE_NEWNET)
		n.tid = unix.Gettid()
		entered <- err
		for f := range n.asked {
			f()
		}
	}()
	if err := <-entered; err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	return n, n.do(func() error { return up("lo") })
}

// do runs f in the namespace.
func (n *namespace) do(f func() error) error {
	result := make(chan error)
	n.asked <- func() { result <- f() }
	return <-result
}

// start starts a program in the namespace; it ends with ctx at the latest.
func (n *namespace) start(cmd *exec.Cmd) error { return n.do(cmd.Start) }

// output runs a program in the namespace and returns what it prints.
func (n *namespace) output(ctx context.Context, name string, args ...string) (out []byte, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	err = n.do(func() error { out, err = cmd.Output(); return err })
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %.300s%.300s", err, failed.Stderr, out)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return out, err
}

func up(name string) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(l)
}

// join connects two namespaces with a veth pair.
func join(a, b *namespace) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = device, mtu
	pair := &netlink.Veth{LinkAttrs: attrs, PeerName: device, PeerMTU: mtu, PeerNamespace: netlink.NsPid(b.tid)}
	if err := a.do(func() error { return netlink.LinkAdd(pair) }); err != nil {
		return fmt.Errorf("join the namespaces: %w", err)
	}
	return errors.Join(a.configure(), b.configure())
}

func (n *namespace) configure() error {
	return n.do(func() error {
		l, err := netlink.LinkByName(device)
		if err != nil {
			return err
		}
		network := &net.IPNet{IP: net.ParseIP(n.addr), Mask: net.CIDRMask(24, 32)}
		return errors.Join(netlink.AddrAdd(l, &netlink.Addr{IPNet: network}), netlink.LinkSetUp(l))
	})
}
