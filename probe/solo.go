//go:build linux

package probe

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// solo is a socket for packets that a single thread has to itself. The kernel that stamps a departure
// tells whoever waits for the socket, and does so in the middle of sending: after
// the stamp, before the packet goes on. To wake another CPU for that takes longer
// than all the packet needs in two kernels, and the runtime's poller always waits.
// Here nobody does while the socket sends.
type solo struct {
	*inbox
	fd int

	mu     sync.Mutex
	bell   int  // an eventfd, to be heard in wait
	used   bool // by a thread, which closes it
	closed bool
}

// soloOf takes over a connection's socket; the connection is closed.
func soloOf(conn *net.UDPConn) (*solo, error) {
	defer conn.Close()
	var own int
	err := onFD(conn, func(fd int) (err error) {
		own, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return os.NewSyscallError("fcntl F_DUPFD_CLOEXEC", err)
	})
	if err != nil {
		return nil, err
	}
	return newSolo(own)
}

// newSolo takes over a socket, and closes it if that fails.
func newSolo(fd int) (*solo, error) {
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("eventfd", err)
	}
	return &solo{inbox: makeInbox(), fd: fd, bell: bell}, nil
}

// use lets f have the socket on a thread of its own, and wakes it when ctx ends;
// the socket is closed afterwards.
func (s *solo) use(ctx context.Context, f func() error) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return net.ErrClosed
	}
	s.used = true
	s.mu.Unlock()
	defer s.release()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer context.AfterFunc(ctx, s.wake)()
	return f()
}

func (s *solo) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used, s.closed = false, true
	s.free()
}

// close ends use of the socket by any thread. Safe to call twice.
func (s *solo) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.closed = true; s.used {
		s.ring()
		return
	}
	s.free()
}

// free is called once: descriptors have other owners afterwards.
func (s *solo) free() {
	unix.Close(s.fd)
	unix.Close(s.bell)
	s.fd, s.bell = -1, -1
}

// wake ends a wait, the present or else the next one.
func (s *solo) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring()
}

func (s *solo) ring() {
	if s.bell >= 0 {
		unix.Write(s.bell, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// bound is the address that the socket has.
func (s *solo) bound() (unix.Sockaddr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, net.ErrClosed
	}
	at, err := unix.Getsockname(s.fd)
	return at, os.NewSyscallError("getsockname", err)
}

// over says that the socket is to be used no more.
func (s *solo) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// wait is over when there is something to take, with wake or close, and at the
// latest then; the zero time is never.
func (s *solo) wait(until time.Time) {
	var limit *unix.Timespec
	if !until.IsZero() {
		t := unix.NsecToTimespec(max(0, time.Until(until).Nanoseconds()))
		limit = &t
	}
	fds := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}, {Fd: int32(s.bell), Events: unix.POLLIN}}
	if n, err := unix.Ppoll(fds, limit, nil); err == nil && n > 0 && fds[1].Revents != 0 {
		unix.Read(s.bell, make([]byte, 8))
	}
}

// takeUntil gives packets to f until a time, or until stop, which may be nil, is
// closed: by f, or by who calls wake then. The end of ctx is an error; it must be
// the one that the socket is used with.
func (s *solo) takeUntil(ctx context.Context, until time.Time, stop <-chan struct{}, f func(arrival)) error {
	for {
		s.take(f)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if isClosed(stop) || !time.Now().Before(until) {
			return nil
		}
		s.wait(until)
	}
}

// isClosed is false for a nil channel.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// take gives every packet that is there to f, which may keep nothing of it, and
// hears of departures.
func (s *solo) take(f func(arrival)) {
	for {
		a, err := s.receive(s.fd)
		if err == nil {
			f(a)
		}
		s.hearDepartures(s.fd)
		if errors.Is(err, unix.EAGAIN) {
			return
		}
		if err != nil { // of one packet: the next may be better
			time.Sleep(time.Millisecond)
			return
		}
	}
}

// send sends a packet to where the socket is connected, or to an address with
// ancillary data.
func (s *solo) send(b, oob []byte, to unix.Sockaddr) error {
	for {
		err := unix.Sendmsg(s.fd, b, oob, to, unix.MSG_DONTWAIT)
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("sendmsg", err)
		}
	}
}
