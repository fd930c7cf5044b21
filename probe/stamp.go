//go:build linux

package probe

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ancillaryBytes holds a time stamp and the packet information of either
// version of IP.
const ancillaryBytes = 256

// prepareUDP asks the kernel to say of each packet when it came in and to
// which of the machine's addresses.
func prepareUDP(conn *net.UDPConn) error {
	return onFD(conn, func(fd int) error {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
			return os.NewSyscallError("setsockopt SO_TIMESTAMPNS", err)
		}
		// A socket of IPv6 carries IPv4 as well, and says so in IPv6's terms.
		err6 := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
		err4 := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
		if err6 != nil && err4 != nil {
			return os.NewSyscallError("setsockopt IP_PKTINFO", err4)
		}
		return nil
	})
}

// arrival is one received packet.
type arrival struct {
	data  []byte
	from  netip.AddrPort
	stamp time.Time // of the kernel, by the wall clock; zero if it gave none
	reply []byte    // ancillary data that answer from the address it came to
}

// inbox receives packets, one at a time.
type inbox struct {
	conn      *net.UDPConn
	data, oob []byte
}

func newInbox(conn *net.UDPConn) *inbox {
	// One byte more than a packet: a longer one then shows its length.
	return &inbox{conn: conn, data: make([]byte, packetBytes+1), oob: make([]byte, ancillaryBytes)}
}

// next waits for a packet; what it returns is good until the next call.
func (in *inbox) next() (a arrival, err error) {
	n, oobn, _, from, err := in.conn.ReadMsgUDPAddrPort(in.data, in.oob)
	if err != nil {
		return a, err
	}
	a.data, a.from = in.data[:n], from
	a.stamp, a.reply = parseAncillary(in.oob[:oobn])
	return a, nil
}

// parseAncillary reads what the kernel says of a packet. The reply asks it to
// answer from the same address, by whatever interface routing says.
func parseAncillary(oob []byte) (stamp time.Time, reply []byte) {
	for len(oob) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return stamp, reply
		}
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && len(data) >= 16:
			sec := binary.NativeEndian.Uint64(data)
			nsec := binary.NativeEndian.Uint64(data[8:])
			stamp = time.Unix(int64(sec), int64(nsec))
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
			reply = unix.PktInfo6(&unix.Inet6Pktinfo{Addr: [16]byte(data)})
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo && reply == nil:
			// ipi_spec_dst, the second field, is the machine's own address.
			reply = unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: [4]byte(data[4:])})
		}
		oob = rest
	}
	return stamp, reply
}

// isRefused is true for the echo of an earlier packet that met no listener.
func isRefused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }
