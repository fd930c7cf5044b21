//go:build linux

package probe

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/wire"
)

// prepareClient sets what a test asks of a data connection on the side that
// connects, before its handshake: the segment size goes out with the first packet.
func prepareClient(raw syscall.RawConn, t *wire.Throughput) error {
	err := onRawFD(raw, func(fd int) error {
		if t.Options.MSSBytes > 0 {
			if err := setInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, "TCP_MAXSEG", t.Options.MSSBytes); err != nil {
				return err
			}
		}
		if t.Options.ClientPort > 0 { // an earlier test's connection may linger on it
			return setInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, "SO_REUSEADDR", 1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if t.Reverse {
		return prepareTCPReceiver(raw, t.Options.ReceiveWindowBytes)
	}
	return prepareTCPSender(raw, t)
}

// prepareTCPSender sets what a test asks of one of the sender's sockets, before the
// handshake where the sender connects. Only the delay of small segments is set
// later: connecting sets it too.
func prepareTCPSender(raw syscall.RawConn, t *wire.Throughput) error {
	if err := setCongestionControl(raw, t.CongestionControl); err != nil {
		return err
	}
	return onRawFD(raw, func(fd int) error {
		o := t.Options
		if o.SendBufferBytes > 0 {
			if err := setInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, "SO_SNDBUF", int(o.SendBufferBytes)); err != nil {
				return err
			}
		}
		if o.PacingBps > 0 {
			rate := uint64(o.PacingBps / 8 / float64(t.Streams))
			if err := unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, rate); err != nil {
				return os.NewSyscallError("setsockopt SO_MAX_PACING_RATE", err)
			}
		}
		return setDSCP(fd, o.DSCP)
	})
}

// ecnBits of the traffic class are the kernel's own.
const ecnBits = 2

// setDSCP marks the packets of a socket of either family. One of IPv6 may carry
// IPv4, to an address mapped into it.
func setDSCP(fd, dscp int) error {
	if dscp == 0 {
		return nil
	}
	err := setInt(fd, unix.IPPROTO_IP, unix.IP_TOS, "IP_TOS", dscp<<ecnBits)
	if isIPv6(fd) {
		err = setInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, "IPV6_TCLASS", dscp<<ecnBits)
	}
	return err
}

func isIPv6(fd int) bool {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	return err == nil && domain == unix.AF_INET6
}

// prepareTCPReceiver keeps the window of a socket down to so many bytes; 0 leaves
// it to the kernel. The buffer is fixed at a size that has room for the window with
// all overhead, where this user may have one as large: else it would grow, and
// the clamp with it.
func prepareTCPReceiver(raw syscall.RawConn, window int64) error {
	if window == 0 {
		return nil
	}
	return onRawFD(raw, func(fd int) error {
		buffer := int(min(2*window, wire.MaxBufferBytes)) // and the kernel doubles that
		err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer)
		if err != nil && buffer <= largestReceiveBuffer() {
			if err := setInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, "SO_RCVBUF", buffer); err != nil {
				return err
			}
		}
		return clampWindow(fd, window)
	})
}

// clampWindow has to be called again and again: when packets come that use
// memory better than earlier ones, the kernel computes a clamp of its own from
// the size of the buffer (Linux 6.6 and later, tcp_measure_rcv_mss).
func clampWindow(fd int, window int64) error {
	return setInt(fd, unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP, "TCP_WINDOW_CLAMP", int(window))
}

// largestReceiveBuffer is what a user without rights may ask for; 0 if that is
// not known, as in some containers.
func largestReceiveBuffer() int {
	b, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}

// granted reads back what the sender's kernel made of the options.
func granted(conn syscall.Conn, streams int) (g wire.TCPGranted, err error) {
	err = onFD(conn, func(fd int) error {
		buffer, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
		if err != nil {
			return os.NewSyscallError("getsockopt SO_SNDBUF", err)
		}
		noDelay, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY)
		if err != nil {
			return os.NewSyscallError("getsockopt TCP_NODELAY", err)
		}
		g.SendBufferBytes, g.NoDelay, g.DSCP = int64(buffer), noDelay != 0, dscpOf(fd)
		rate, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE)
		if err != nil {
			return os.NewSyscallError("getsockopt SO_MAX_PACING_RATE", err)
		}
		if rate < wire.MaxRateBps/8 { // else it is the kernel's word for none
			g.PacingBps = 8 * float64(rate) * float64(streams)
		}
		return nil
	})
	return g, err
}

// granted is what became of the options; without what the kernel no longer says
// because the connections are closed.
func (s *sender) granted() wire.TCPGranted {
	g, _ := granted(s.conns[0], len(s.conns))
	for _, sample := range s.log[len(s.log)/2:] {
		g.ReceiveWindowBytes = max(g.ReceiveWindowBytes, sample.PeerWindow/int64(len(s.conns)))
	}
	return g
}

func dscpOf(fd int) int {
	level, name := unix.IPPROTO_IP, unix.IP_TOS
	if isIPv6(fd) {
		level, name = unix.IPPROTO_IPV6, unix.IPV6_TCLASS
	}
	class, err := unix.GetsockoptInt(fd, level, name)
	if err != nil {
		return 0
	}
	return class >> ecnBits
}

func setInt(fd, level, option int, name string, value int) error {
	return os.NewSyscallError("setsockopt "+name, unix.SetsockoptInt(fd, level, option, value))
}
