//go:build linux

package router

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for links to become readable and for a moment in time, with the
// precision of the kernel's timers and not that of epoll's own timeout.
type poller struct {
	epoll, timer, event int
	events              [64]unix.EpollEvent
}

func newPoller() (_ *poller, err error) {
	p := &poller{epoll: -1, timer: -1, event: -1}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if p.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("timerfd: %w", err)
	}
	if p.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	// Edge-triggered: a timer that ran out need not be read.
	timer := &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(p.timer)}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, p.timer, timer); err != nil {
		return nil, fmt.Errorf("poll timer: %w", err)
	}
	return p, p.add(p.event)
}

func (p *poller) close() error {
	var errs []error
	for _, fd := range []int{p.epoll, p.timer, p.event} {
		if fd >= 0 {
			errs = append(errs, unix.Close(fd))
		}
	}
	return errors.Join(errs...)
}

// add has wait report fd while it is readable. It works while another
// goroutine waits, as remove does.
func (p *poller) add(fd int) error {
	e := &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, e); err != nil {
		return fmt.Errorf("poll descriptor %d: %w", fd, err)
	}
	return nil
}

// remove ends what add began. It may fail only if it ended already.
func (p *poller) remove(fd int) {
	_ = unix.EpollCtl(p.epoll, unix.EPOLL_CTL_DEL, fd, nil)
}

// wake ends a wait, now or next time.
func (p *poller) wake() {
	_, _ = unix.Write(p.event, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// forever is a wait that only a link ends.
const forever = time.Duration(1<<63 - 1)

// wait returns the descriptors that are readable, after at most d; 0 does not
// wait at all. Others than links may be among them. The result is valid until
// the next call.
func (p *poller) wait(d time.Duration) ([]unix.EpollEvent, error) {
	timeoutMs := -1
	switch {
	case d <= 0:
		timeoutMs = 0
	case d < forever:
		spec := &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
		if err := unix.TimerfdSettime(p.timer, 0, spec, nil); err != nil {
			return nil, fmt.Errorf("set timer: %w", err)
		}
	}
	n, err := unix.EpollWait(p.epoll, p.events[:], timeoutMs)
	if err == unix.EINTR {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("wait: %w", err)
	}
	return p.events[:n], nil
}

// rang reports whether the time has ended a wait that returned ready.
func (p *poller) rang(ready []unix.EpollEvent) bool {
	return len(ready) > 0 && ready[0].Fd == int32(p.timer)
}
