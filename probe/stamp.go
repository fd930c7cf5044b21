//go:build linux

package probe

import (
	"encoding/binary"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// ancillaryBytes holds the time stamps, the packet information of either
// version of IP, and what comes with the echo of a sent packet.
const ancillaryBytes = 512

// prepareUDP asks the kernel to say of each packet when it came in and to
// which of the machine's addresses, and of each that is sent when it left.
func prepareUDP(conn *net.UDPConn) error {
	return onFD(conn, func(fd int) error {
		stampAll(fd)
		// A socket of IPv6 carries IPv4 as well, and says so in IPv6's terms.
		err6 := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
		err4 := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
		if err6 != nil && err4 != nil {
			return os.NewSyscallError("setsockopt IP_PKTINFO", err4)
		}
		return nil
	})
}

// queueBytes is what a socket may hold: departures count as well as arrivals, and
// the process may have to wait for a CPU.
const queueBytes = 4 << 20

// stampAll asks for stamps of the wall clock: of arrivals, and of departures,
// which come with the packet itself on the socket's error queue, so that nobody
// has to count what was sent. A kernel that can't leaves times to user space.
func stampAll(fd int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, queueBytes) != nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, queueBytes) // as far as net.core.rmem_max allows
	}
	const flags = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_TX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags) != nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}
}

// ancillary is what the kernel says of a packet.
type ancillary struct {
	stamp    int64  // ns since 1970; 0 if it gave none
	reply    []byte // ancillary data that answer from the address it came to
	fragment int    // bytes of the largest fragment it came in; 0 if it came whole
}

// parseAncillary reads it. The reply asks the kernel to answer from the same
// address, by whatever interface routing says.
func parseAncillary(oob []byte) (a ancillary) {
	for len(oob) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return a
		}
		switch {
		case h.Level == unix.SOL_SOCKET && (h.Type == unix.SCM_TIMESTAMPING || h.Type == unix.SCM_TIMESTAMPNS) && len(data) >= 16:
			// The first of SCM_TIMESTAMPING's three is the kernel's own.
			a.stamp = int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:]))
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
			a.reply = unix.PktInfo6(&unix.Inet6Pktinfo{Addr: [16]byte(data)})
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo && a.reply == nil:
			// ipi_spec_dst, the second field, is the machine's own address.
			a.reply = unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: [4]byte(data[4:])})
		case isFragmentSize(h) && len(data) >= 4:
			a.fragment = int(binary.NativeEndian.Uint32(data))
		}
		oob = rest
	}
	return a
}

func isFragmentSize(h unix.Cmsghdr) bool {
	return h.Level == unix.IPPROTO_IP && h.Type == unix.IP_RECVFRAGSIZE ||
		h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_RECVFRAGSIZE
}
