//go:build linux

package probe

import (
	"net"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/host"
	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// fillLimit says what limited the test, and what each machine did in it.
func (s *sender) fillLimit(r *wire.ThroughputResult) {
	r.From, r.To = hostOf(s.meter), s.peer
	if r.To != nil {
		sane := r.To.Sane()
		r.To = &sane
	}
	part := s.steady()
	limit := s.log.Limit(part, trace.Facts{
		CongestionControl: s.congestion, MSS: s.last.mss, Streams: len(s.conns),
		RateBps: s.limit.Options.RateBps, From: r.From, To: r.To,
	})
	r.LimitedBy, r.LimitedByEvidence = limit.By, limit.Evidence
	r.WindowCeilingBps = 8 * s.log.WindowCeiling(part)
}

// hostOf is what a meter has seen; nil without one.
func hostOf(m *host.Meter) *trace.Host {
	if m == nil {
		return nil
	}
	h := m.Read()
	return &h
}

// sendMemory knows how far the kernel lets a send buffer grow by itself, in
// bytes of its own account, which has more in it than payload; 0 if it does not
// say.
type sendMemory int64

func newSendMemory() sendMemory {
	b, err := os.ReadFile("/proc/sys/net/ipv4/tcp_wmem") // of IPv6 too
	fields := strings.Fields(string(b))
	if err != nil || len(fields) != 3 {
		return 0
	}
	most, _ := strconv.ParseInt(fields[2], 10, 64) // 0 on error
	return sendMemory(most)
}

// Indices of what SO_MEMINFO answers (include/uapi/linux/sock_diag.h).
const (
	memSendLimit  = 3 // SK_MEMINFO_SNDBUF
	memSendQueued = 5 // SK_MEMINFO_WMEM_QUEUED
	memInfoWords  = 9 // SK_MEMINFO_VARS
)

// sendBufferLocked is set in what SO_BUF_LOCK answers when the program chose
// the size, so that the kernel does not change it.
const sendBufferLocked = 1

// payload is how many bytes of payload a connection's send buffer holds at
// most, from how many the queued bytes take of it now; 0 if the kernel does not
// say.
func (m sendMemory) payload(conn *net.TCPConn, queued int64) int64 {
	var mem [memInfoWords]uint32
	locked := 0
	err := onFD(conn, func(fd int) (err error) {
		if locked, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK); err != nil {
			locked = 0 // Linux before 5.14: it can't be asked
		}
		return memInfo(fd, &mem)
	})
	if err != nil {
		return 0
	}
	limit := int64(mem[memSendLimit])
	if locked&sendBufferLocked == 0 {
		limit = max(limit, int64(m))
	}
	share := 1.0
	if held := int64(mem[memSendQueued]); held > queued && queued > 0 {
		share = float64(queued) / float64(held)
	}
	return int64(share * float64(limit))
}

func memInfo(fd int, mem *[memInfoWords]uint32) error {
	size := uint32(unsafe.Sizeof(*mem))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(mem)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return os.NewSyscallError("getsockopt SO_MEMINFO", errno)
	}
	return nil
}
