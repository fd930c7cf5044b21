//go:build linux

package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxDatagramBytes is the longest payload of UDP over IPv4.
	maxDatagramBytes = 65507
	// usualDatagramBytes leaves room in 1500 bytes for the headers of either
	// version of IP and a little for tunnels: what iperf3 chooses there too.
	usualDatagramBytes = 1448
	// smallDatagramBytes fits the smallest MTU of IPv6, 1280 bytes.
	smallDatagramBytes = 1280 - 40 - 8
	// udpReceiveBuffer holds what arrives while the receiver does not run:
	// some milliseconds of 10 Gbit/s.
	udpReceiveBuffer = 16 << 20
	// udpSendBuffer holds a few bursts; a longer queue would only delay.
	udpSendBuffer = 1 << 20
)

// listenUDP opens a server's socket so that its sessions may open others on the
// same port. Until such a socket is connected the kernel would give it others'
// packets: a program of the one instruction "return 0" keeps them for the first
// socket of the port, the server's.
func listenUDP(addr netip.AddrPort) (*net.UDPConn, error) {
	host := ""
	if addr.Addr().IsValid() {
		host = addr.Addr().String()
	}
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return onRawFD(raw, func(fd int) error {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
				return os.NewSyscallError("setsockopt SO_REUSEPORT", err)
			}
			first := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0}
			return os.NewSyscallError("setsockopt SO_ATTACH_REUSEPORT_CBPF",
				unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &unix.SockFprog{Len: 1, Filter: &first}))
		})
	}}
	conn, err := config.ListenPacket(context.Background(), "udp", net.JoinHostPort(host, fmt.Sprint(addr.Port())))
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil
}

// udpSocket is a connected UDP socket that Go's poller does not know: the poller
// would be woken by each packet that comes in, and by each that has left. Its
// calls block instead, for socketTimeout at most.
type udpSocket struct{ *os.File }

// socketTimeout is how long a call may wait, and so how late it may notice that
// a test has ended.
const socketTimeout = 50 * time.Millisecond

// acceptUDP opens a socket on the server's port that receives what comes from
// peer to local, one of the machine's addresses, and nothing else.
func acceptUDP(server *solo, local netip.Addr, peer netip.AddrPort) (*udpSocket, error) {
	at, err := server.bound()
	if err != nil {
		return nil, err
	}
	s, err := connectUDP(at, peer)
	if err != nil || s.local() == local {
		return s, err
	}
	// Routing would have answered from another address than was asked. Bound to
	// the right one, the socket may get a packet of others before it is connected.
	s.Close()
	return connectUDP(withAddr(at, local), peer)
}

// dialDatagrams leaves from the address the control connection has, the only one
// from which the peer takes anything.
func dialDatagrams(ctl *control, peer netip.AddrPort) (*udpSocket, error) {
	local := ctl.conn.LocalAddr().(*net.TCPAddr)
	addr := local.AddrPort().Addr().Unmap()
	if addr.Is4() {
		return connectUDP(&unix.SockaddrInet4{Addr: addr.As4()}, peer)
	}
	at := &unix.SockaddrInet6{Addr: addr.As16()}
	if local.Zone != "" {
		link, err := net.InterfaceByName(local.Zone)
		if err != nil {
			return nil, err
		}
		at.ZoneId = uint32(link.Index)
	}
	return connectUDP(at, peer)
}

// withAddr is a socket address with another IP address.
func withAddr(at unix.Sockaddr, addr netip.Addr) unix.Sockaddr {
	if v4, is := at.(*unix.SockaddrInet4); is {
		return &unix.SockaddrInet4{Port: v4.Port, Addr: addr.As4()}
	}
	v6 := at.(*unix.SockaddrInet6)
	return &unix.SockaddrInet6{Port: v6.Port, ZoneId: v6.ZoneId, Addr: addr.As16()}
}

// connectUDP is bound to at and connected to peer. A port that at names may have
// other sockets too.
func connectUDP(at unix.Sockaddr, peer netip.AddrPort) (*udpSocket, error) {
	family, shared := unix.AF_INET, 0
	var to unix.Sockaddr
	switch at := at.(type) {
	case *unix.SockaddrInet4:
		shared, to = min(at.Port, 1), &unix.SockaddrInet4{Port: int(peer.Port())}
	case *unix.SockaddrInet6:
		family, shared, to = unix.AF_INET6, min(at.Port, 1), &unix.SockaddrInet6{Port: int(peer.Port()), ZoneId: at.ZoneId}
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s := &udpSocket{os.NewFile(uintptr(fd), "udp")}
	if family == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
	}
	wait := unix.NsecToTimeval(int64(socketTimeout))
	err = errors.Join(err,
		os.NewSyscallError("setsockopt SO_RCVTIMEO", unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)),
		os.NewSyscallError("setsockopt SO_SNDTIMEO", unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &wait)),
		os.NewSyscallError("setsockopt SO_REUSEPORT", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, shared)),
		os.NewSyscallError("bind", unix.Bind(fd, at)),
		os.NewSyscallError("connect", unix.Connect(fd, withAddr(to, peer.Addr()))))
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// local is the address that it is bound to, by now one of the machine's.
func (s *udpSocket) local() (addr netip.Addr) {
	onFD(s, func(fd int) error {
		switch at, _ := unix.Getsockname(fd); at := at.(type) {
		case *unix.SockaddrInet4:
			addr = netip.AddrFrom4(at.Addr)
		case *unix.SockaddrInet6:
			addr = netip.AddrFrom16(at.Addr).Unmap()
		}
		return nil
	})
	return addr
}

// prepareReceiver has the kernel say of each packet when it came in, and, where
// it can, deliver packets of one flow together.
func prepareReceiver(s *udpSocket, offload bool) (offloads bool, err error) {
	err = onFD(s, func(fd int) error {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, udpReceiveBuffer) != nil {
			unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, udpReceiveBuffer) // as much as an ordinary user gets
		}
		offloads = offload && unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1) == nil
		return os.NewSyscallError("setsockopt SO_TIMESTAMPNS", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1))
	})
	return offloads, err
}

// parseDelivery reads when the kernel received a message, zero if it does not
// say, and how long the datagrams are that it holds, 0 if it is a single one.
func parseDelivery(control []byte) (stamp time.Time, segment int) {
	for len(control) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return stamp, segment
		}
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && len(data) >= 16:
			stamp = time.Unix(int64(binary.NativeEndian.Uint64(data)), int64(binary.NativeEndian.Uint64(data[8:])))
		case h.Level == unix.IPPROTO_UDP && h.Type == unix.UDP_GRO && len(data) >= 4:
			segment = max(0, int(int32(binary.NativeEndian.Uint32(data))))
		}
		control = rest
	}
	return stamp, segment
}

// segmentControl has the kernel cut a message into datagrams of so many bytes.
func segmentControl(bytes int) []byte {
	b := make([]byte, unix.CmsgSpace(2))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	h.Level, h.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
	h.SetLen(unix.CmsgLen(2))
	binary.NativeEndian.PutUint16(b[unix.CmsgLen(0):], uint16(bytes))
	return b
}

// prepareSender keeps the kernel from cutting datagrams into fragments.
func prepareSender(s *udpSocket) error {
	return onFD(s, func(fd int) error {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, udpSendBuffer) // as much as one gets
		if s.local().Is6() {
			return os.NewSyscallError("setsockopt IPV6_MTU_DISCOVER",
				unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO))
		}
		return os.NewSyscallError("setsockopt IP_MTU_DISCOVER",
			unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO))
	})
}

// pathDatagramBytes is the longest payload that fits the path, as far as the
// kernel has learned it.
func pathDatagramBytes(s *udpSocket) (bytes int, err error) {
	level, option, headers := unix.IPPROTO_IP, unix.IP_MTU, 20+8
	if s.local().Is6() {
		level, option, headers = unix.IPPROTO_IPV6, unix.IPV6_MTU, 40+8
	}
	err = onFD(s, func(fd int) error {
		mtu, err := unix.GetsockoptInt(fd, level, option)
		bytes = min(mtu-headers, maxDatagramBytes)
		return os.NewSyscallError("getsockopt IP_MTU", err)
	})
	return bytes, err
}
