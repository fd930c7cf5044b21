package hypervisor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/seqpacket"
)

// linkName is what a machine's interface is called in there.
const linkName = "eth0"

// duplicate returns another descriptor of f.
func duplicate(f *os.File) (fd int, err error) {
	err = seqpacket.WithFD(f, func(own int) error {
		fd, err = unix.FcntlInt(uintptr(own), unix.F_DUPFD_CLOEXEC, 0)
		return os.NewSyscallError("fcntl", err)
	})
	if err != nil {
		return -1, err
	}
	return fd, nil
}

// plugVeth makes a pair of devices, one of them in the machine's namespace.
func (g *guest) plugVeth() (*link.Link, error) {
	name := "veth" + strconv.Itoa(g.serial)
	mac := machineMAC(g.serial)
	if err := MakeVeth(name, linkName, mac, netlink.NsPid(g.pid())); err != nil {
		return nil, err
	}
	l, err := link.OpenVeth(name, mac)
	if err != nil {
		return nil, err
	}
	files, err := g.boot(link.Veth, link.RouterMAC().String())
	seqpacket.CloseAll(files)
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// MakeVeth makes the pair of devices of a link: name here, which is up, and
// peer in the network namespace ns (nil: here too), which is down. It goes when
// either namespace goes.
func MakeVeth(name, peer string, peerMAC net.HardwareAddr, ns any) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = name, link.MTU
	pair := &netlink.Veth{LinkAttrs: attrs, PeerName: peer, PeerHardwareAddr: peerMAC, PeerNamespace: ns}
	if err := netlink.LinkAdd(pair); err != nil {
		return fmt.Errorf("make veth pair %s: %w", name, err)
	}
	ours, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetARPOff(ours)
	}
	if err == nil {
		err = netlink.LinkSetUp(ours)
	}
	if err != nil {
		return fmt.Errorf("set up veth %s: %w", name, err)
	}
	return nil
}

// machineMAC is a local unicast address, different from the router's.
func machineMAC(serial int) net.HardwareAddr {
	return net.HardwareAddr{0x02, 0x61, 0x70, 1 + byte(serial>>16), byte(serial >> 8), byte(serial)}
}

// explainSpawn says what the kernel's short word means for namespaces.
func explainSpawn(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EUSERS) {
		return fmt.Errorf("%w: a limit on namespaces is reached: raise user.max_net_namespaces, "+
			"user.max_pid_namespaces and user.max_mnt_namespaces", err)
	}
	return err
}
