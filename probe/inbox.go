//go:build linux

package probe

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// arrival is one received packet.
type arrival struct {
	ancillary
	data []byte // its first bytes: as many as the inbox takes
	size int    // of the whole packet, bytes
	from netip.AddrPort
	back unix.Sockaddr // from, as the kernel has it
}

// head is where a packet of ours says what it is.
func (a arrival) head() []byte { return a.data[:min(len(a.data), packetBytes)] }

// inbox receives packets, one at a time, and what the kernel says of those that
// were sent.
type inbox struct {
	raw       syscall.RawConn
	data, oob []byte

	// departed is told when a packet left the machine, in ns since 1970, and
	// its last bytes; nil: nobody cares. It is called within next.
	departed func(stamp int64, tail []byte)
}

// inboxBytes takes a packet, or the copy of a sent one with all its headers.
const inboxBytes = 256

func newInbox(conn syscall.Conn) (*inbox, error) {
	in := makeInbox()
	var err error
	in.raw, err = conn.SyscallConn()
	return in, err
}

// makeInbox is for who has a descriptor.
func makeInbox() *inbox {
	return &inbox{data: make([]byte, inboxBytes), oob: make([]byte, ancillaryBytes)}
}

// each gives every packet to f, which may keep nothing of it, until the socket is
// closed.
func (in *inbox) each(f func(arrival)) {
	for {
		a, err := in.next()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // of one packet: the next may be better
			time.Sleep(time.Millisecond)
		default:
			f(a)
		}
	}
}

// next waits for a packet; what it returns is good until the next call.
func (in *inbox) next() (a arrival, err error) {
	closed := in.raw.Read(func(fd uintptr) bool {
		in.hearDepartures(int(fd))
		a, err = in.receive(int(fd))
		return err != unix.EAGAIN
	})
	if closed != nil {
		return a, closed
	}
	return a, err
}

func (in *inbox) receive(fd int) (a arrival, err error) {
	n, oobn, _, from, err := recvmsg(fd, in.data, in.oob, unix.MSG_TRUNC)
	if err != nil {
		return a, err
	}
	a.data, a.size, a.from = in.data[:min(n, len(in.data))], n, addrPortOf(from)
	a.back = from
	a.ancillary = parseAncillary(in.oob[:oobn])
	return a, nil
}

// hearDepartures empties the error queue. It is worth asking whenever the
// socket is, as a stamp makes a socket readable that has nothing to read.
func (in *inbox) hearDepartures(fd int) {
	for in.departed != nil {
		n, oobn, flags, _, err := recvmsg(fd, in.data, in.oob, unix.MSG_ERRQUEUE)
		if err != nil {
			return
		}
		a := parseAncillary(in.oob[:oobn])
		if a.stamp != 0 && n >= packetBytes && flags&unix.MSG_TRUNC == 0 {
			in.departed(a.stamp, in.data[n-packetBytes:n])
		}
	}
}

// recvmsg never waits, and is not disturbed by signals.
func recvmsg(fd int, data, oob []byte, flags int) (n, oobn, recvflags int, from unix.Sockaddr, err error) {
	for {
		n, oobn, recvflags, from, err = unix.Recvmsg(fd, data, oob, flags|unix.MSG_DONTWAIT)
		if err != unix.EINTR {
			return n, oobn, recvflags, from, err
		}
	}
}

func addrPortOf(from unix.Sockaddr) netip.AddrPort {
	switch from := from.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(from.Addr), uint16(from.Port))
	case *unix.SockaddrInet6:
		addr := netip.AddrFrom16(from.Addr)
		if from.ZoneId != 0 {
			addr = addr.WithZone(strconv.Itoa(int(from.ZoneId)))
		}
		return netip.AddrPortFrom(addr, uint16(from.Port))
	}
	return netip.AddrPort{}
}

// isRefused is true for the echo of an earlier packet that met no listener.
func isRefused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }
