//go:build linux

package probe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// onFD runs f on the descriptor of a connection.
func onFD(conn syscall.Conn, f func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	return onRawFD(raw, f)
}

func onRawFD(raw syscall.RawConn, f func(fd int) error) error {
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// setUserTimeout ends a connection whose data stay unacknowledged for d.
func setUserTimeout(conn *net.TCPConn, d time.Duration) error {
	return onFD(conn, func(fd int) error {
		return os.NewSyscallError("setsockopt TCP_USER_TIMEOUT",
			unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds())))
	})
}

// setBacklog limits how many bytes a socket takes before it sends them.
func setBacklog(conn *net.TCPConn, bytes int) error {
	return onFD(conn, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}

// setCongestionControl chooses the algorithm of one socket; an empty name
// leaves the machine's default.
func setCongestionControl(raw syscall.RawConn, name string) error {
	if name == "" {
		return nil
	}
	err := onRawFD(raw, func(fd int) error {
		return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("congestion control %q: this kernel has only %s", name, sysctl("tcp_available_congestion_control"))
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("congestion control %q: this user may choose only %s", name, sysctl("tcp_allowed_congestion_control"))
	case err != nil:
		return fmt.Errorf("congestion control %q: %w", name, err)
	}
	return nil
}

// congestionControl is the algorithm in force.
func congestionControl(conn syscall.Conn) (name string, err error) {
	err = onFD(conn, func(fd int) (err error) {
		name, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		return err
	})
	return name, err
}

func tcpInfo(conn *net.TCPConn) (info *unix.TCPInfo, err error) {
	err = onFD(conn, func(fd int) (err error) {
		info, err = unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		return err
	})
	return info, err
}

// sysctl reads a setting of IPv4, which rule IPv6's TCP too.
func sysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/net/ipv4/" + name)
	if err != nil {
		return "others"
	}
	return strings.TrimSpace(string(b))
}
