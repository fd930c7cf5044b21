//go:build linux

package probe

import (
	"net"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/wire"
)

// describe says what machine this is. What can't be found out stays empty.
func describe(build string) wire.Hello {
	h := wire.Hello{Version: wire.Version, Build: build, CPUs: runtime.NumCPU(), CongestionControl: defaultCongestionControl()}
	var uts unix.Utsname
	if unix.Uname(&uts) == nil {
		h.OS = unix.ByteSliceToString(uts.Sysname[:])
		h.Arch = unix.ByteSliceToString(uts.Machine[:])
		h.Kernel = unix.ByteSliceToString(uts.Release[:])
	}
	return h
}

// defaultCongestionControl asks a fresh socket: /proc may be closed.
func defaultCongestionControl() string {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return ""
	}
	defer l.Close()
	name, err := congestionControl(l)
	if err != nil {
		return ""
	}
	return name
}
