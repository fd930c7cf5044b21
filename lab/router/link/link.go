//go:build linux

package link

import (
	"errors"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/router/packet"
)

// Kind says what a link is made of.
type Kind string

const (
	TUN  Kind = "tun"
	Veth Kind = "veth"
)

// MTU of every link in bytes, the internet's.
const MTU = 1500

// MaxRead is the room Read needs for the largest super-packet.
const MaxRead = packet.OffloadLen + ethernetLen + 65535

const ethernetLen = 14

// RouterMAC is where machines on veth links send everything. No device has it,
// so that the namespace of the router's ends ignores what passes there, even
// packets to an address of its own.
func RouterMAC() net.HardwareAddr { return net.HardwareAddr{0x02, 0x61, 0x70, 0, 0, 0xfe} }

// Errors of Read and Write.
var (
	ErrEmpty = errors.New("nothing to read now")
	ErrEnded = errors.New("the other end is gone")
)

// Link reads and writes packets without ever blocking. One goroutine at a time
// may read, one may write.
type Link struct {
	kind   Kind
	fd     int
	framed int // bytes of link header: 0 or ethernetLen

	// What goes before a packet, reused by every Write.
	offload  [packet.OffloadLen]byte
	ethernet [ethernetLen]byte
	parts    [4]unix.Iovec
}

// Kind says what the link is made of.
func (l *Link) Kind() Kind { return l.kind }

// FD is the descriptor to poll, or to send to another process. It stays the link's.
func (l *Link) FD() int { return l.fd }

// Close ends the link. The device of a TUN link ends with its last descriptor.
func (l *Link) Close() error { return unix.Close(l.fd) }

// Read reads one packet into b, which holds MaxRead bytes, and returns the part
// of b from the IP header on. It returns ErrEmpty when none waits.
func (l *Link) Read(b []byte) (packet.Offload, []byte, error) {
	for {
		n, err := unix.Read(l.fd, b)
		skip := packet.OffloadLen + l.framed
		switch {
		case err == unix.EINTR:
		case err != nil:
			return packet.Offload{}, nil, readError(err)
		case n < skip:
			return packet.Offload{}, nil, nil // no packet, but not the end either
		default:
			return packet.DecodeOffload(b, uint16(l.framed)), b[skip:n], nil
		}
	}
}

func readError(err error) error {
	if err == unix.EAGAIN {
		return ErrEmpty
	}
	return errors.Join(ErrEnded, err)
}

// Write sends the packet made of head and body. A packet the other end has no
// room for is an error, as on any wire; so is one that the kernel refuses.
func (l *Link) Write(o packet.Offload, head, body []byte) error {
	o.Encode(l.offload[:], uint16(l.framed))
	parts := append(l.parts[:0], part(l.offload[:]))
	if l.framed > 0 {
		etherType := uint16(unix.ETH_P_IP)
		if len(head) > 0 && head[0]>>4 == 6 {
			etherType = unix.ETH_P_IPV6
		}
		l.ethernet[12], l.ethernet[13] = byte(etherType>>8), byte(etherType)
		parts = append(parts, part(l.ethernet[:]))
	}
	parts = append(parts, part(head))
	if len(body) > 0 {
		parts = append(parts, part(body))
	}
	defer clear(l.parts[:]) // not to keep the packet's memory
	for {
		_, _, errno := unix.Syscall(unix.SYS_WRITEV, uintptr(l.fd), uintptr(unsafe.Pointer(&parts[0])), uintptr(len(parts)))
		switch errno {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return errno
		}
	}
}

// part is b for writev; b is not empty.
func part(b []byte) unix.Iovec {
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	return v
}
