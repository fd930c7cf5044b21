//go:build linux

package link

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// socketBuffer is asked for in both directions, in bytes; the kernel grants
// what net.core.rmem_max and wmem_max allow. The usual default holds four
// super-packets.
const socketBuffer = 4 << 20

// OpenVeth is the link of the router's end, called name, of a veth pair in the
// caller's network namespace. The other end has the hardware address peer, no
// ARP, and sends everything to RouterMAC.
func OpenVeth(name string, peer net.HardwareAddr) (*Link, error) {
	l, err := openVeth(name, peer)
	if err != nil {
		return nil, fmt.Errorf("open veth %s: %w", name, err)
	}
	return l, nil
}

func openVeth(name string, peer net.HardwareAddr) (*Link, error) {
	device, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	if len(peer) != 6 || bytes.Equal(device.HardwareAddr, RouterMAC()) {
		return nil, fmt.Errorf("hardware addresses %s here and %s there do not fit", device.HardwareAddr, peer)
	}
	// Protocol 0: deaf until it is bound to the one device.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	l := &Link{kind: Veth, fd: fd, framed: ethernetLen}
	copy(l.ethernet[0:], peer)
	copy(l.ethernet[6:], RouterMAC())
	if err := prepareSocket(fd, device.Index); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return l, nil
}

func prepareSocket(fd, index int) error {
	for _, o := range []struct{ level, name, value int }{
		{unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1},
		{unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1},
		{unix.SOL_SOCKET, unix.SO_RCVBUF, socketBuffer},
		{unix.SOL_SOCKET, unix.SO_SNDBUF, socketBuffer},
	} {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			return fmt.Errorf("set socket option %d: %w", o.name, err)
		}
	}
	address := &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: index}
	if err := unix.Bind(fd, address); err != nil {
		return fmt.Errorf("bind to device %d: %w", index, err)
	}
	return nil
}

func networkOrder(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}
