//go:build linux

package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// Knocks and trial datagrams are repeated, at growing intervals.
	firstTrial = 20 * time.Millisecond
	lastTrial  = 200 * time.Millisecond
	// shrinkAfter is when a size that nobody asked for is taken for too large.
	shrinkAfter = 2 * time.Second
	// trialLimit is when a path is taken for one that lets none of them through.
	trialLimit = 6 * time.Second
)

// tryOut shows the peer where the datagrams will come from, and finds out
// whether their size gets through: it sends knocks and trial datagrams until the
// peer has got one. It settles the size and makes the outbox.
func (s *udpSender) tryOut(ctx context.Context) error {
	ctx, stop := context.WithTimeoutCause(ctx, trialLimit, errors.New("none got through"))
	defer stop()
	if s.bytes == 0 {
		s.bytes = usualDatagramBytes
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	shrink := time.NewTimer(shrinkAfter)
	defer shrink.Stop()
	for every := firstTrial; ; every = min(2*every, lastTrial) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("UDP datagrams of %d bytes: %w", s.bytes, context.Cause(ctx))
		case n := <-s.trials:
			if s.req.Offload && !n.Offload {
				return errNoOffload
			}
			if n.TrialBytes >= s.bytes {
				return nil
			}
			continue
		case <-shrink.C:
			s.shrink()
		case <-timer.C:
		}
		if err := s.try(); err != nil {
			return err
		}
		timer.Reset(every)
	}
}

// try sends a knock and a trial datagram, or two where the kernel shall cut
// them.
func (s *udpSender) try() error {
	if err := s.fit(); err != nil {
		return err
	}
	if _, err := s.socket.Write(newKnock(s.ctl.id, s.ctl.key)); err != nil && !transient(err) {
		return fmt.Errorf("send to the peer's UDP port: %w", err)
	}
	n := min(int64(s.out.segments), 2)
	_, err := s.out.post(trialBit, n, 0)
	switch {
	case err == nil || transient(err):
		return nil
	case s.out.segments > 1 && (errors.Is(err, unix.EIO) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP)):
		return errNoOffload // the kernel, or the interface that the route leaves by
	}
	return fmt.Errorf("send a trial datagram: %w", err)
}

// fit makes the outbox for a size that fits the path as it is known by now.
func (s *udpSender) fit() error {
	fits, err := pathDatagramBytes(s.socket)
	if err != nil {
		return err
	}
	if s.bytes > fits {
		if s.req.DatagramBytes > 0 {
			return fmt.Errorf("datagrams of %d bytes do not fit the path: at most %d do", s.bytes, fits)
		}
		s.bytes, s.out = fits, nil
	}
	if s.out == nil {
		s.out = newOutbox(s.socket, s.tag, s.bytes, s.req.Offload)
	}
	return nil
}

// shrink gives a path that drops large datagrams in silence a small one, unless
// the size was asked for.
func (s *udpSender) shrink() {
	if s.req.DatagramBytes == 0 && s.bytes > smallDatagramBytes {
		s.bytes, s.out = smallDatagramBytes, nil
	}
}
