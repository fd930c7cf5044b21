//go:build linux

package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/wire"
)

// errNoOffload is one of the two kernels not having segmentation offload.
var errNoOffload = errors.New("no segmentation offload")

// udpSender is the sending side of one UDP throughput test.
type udpSender struct {
	req    wire.UDP
	ctl    *control
	socket *udpSocket
	tag    datagramTag
	bytes  int // of a datagram
	out    *outbox
	began  time.Time
	sent   int64
	noted  timeline // of sent, since the first datagram

	trials chan udpNews  // of trial datagrams that got through
	behind atomic.Bool   // the peer asks for a breather
	hushed atomic.Bool   // the peer was silent for too long: send no more
	final  chan struct{} // closed when the peer has counted all

	mu    sync.Mutex
	count udpCount // the latest
	heard time.Time

	counts []udpCount // that become samples
	every  int        // of so many one does; 0: none
	came   int
}

// UDP sends to req.Peer what req asks for and says what arrived. Offload is left
// out where either kernel does not have it. On error the result is what was seen
// until then, nil if that is nothing.
func (c *Client) UDP(ctx context.Context, req wire.UDP) (*wire.UDPResult, error) {
	peer, err := addrPort(req.Peer)
	if err != nil {
		return nil, err
	}
	ctx, stop := withDeadline(ctx, req.DeadlineMs)
	defer stop()
	r, err := c.udp(ctx, peer, req)
	if errors.Is(err, errNoOffload) {
		req.Offload = false
		return c.udp(ctx, peer, req)
	}
	return r, err
}

func (c *Client) udp(ctx context.Context, peer netip.AddrPort, req wire.UDP) (*wire.UDPResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil) // closes every connection of the test
	ctl, err := c.open(ctx, peer, order{UDP: &udpOrder{Offload: req.Offload}, DeadlineMs: req.DeadlineMs})
	if err != nil {
		return nil, err
	}
	socket, err := dialDatagrams(ctl, peer)
	if err != nil {
		return nil, fmt.Errorf("open a UDP socket: %w", err)
	}
	defer socket.Close()
	if err := prepareSender(socket); err != nil {
		return nil, err
	}
	s := &udpSender{
		req: req, ctl: ctl, socket: socket, tag: newDatagramTag(ctl.key),
		bytes: req.DatagramBytes, began: time.Now(), heard: time.Now(),
		trials: make(chan udpNews, 1), final: make(chan struct{}), every: int(math.Ceil(req.SampleMs / inMs(newsInterval))),
	}
	return s.result(s.run(ctx, cancel))
}

// run ends when the peer has counted everything, when anything fails, or with
// ctx: each closes the control connection or makes the peer close it, which
// ends the listening goroutine.
func (s *udpSender) run(ctx context.Context, cancel context.CancelCauseFunc) error {
	var g errgroup.Group
	g.Go(failing(cancel, func() error { return s.listen(ctx) }))
	err := s.test(ctx)
	if err != nil {
		cancel(err)
	}
	return causeOf(ctx, errors.Join(err, g.Wait()))
}

func (s *udpSender) test(ctx context.Context) error {
	if err := s.tryOut(ctx); err != nil {
		return err
	}
	if err := s.send(ctx); err != nil {
		return err
	}
	if err := s.ctl.out.Write(udpSent{Datagrams: s.sent}); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.final:
		return nil
	}
}

// listen takes in the peer's news until its final count. A peer silent for
// silenceLimit is sent nothing more: either it is gone, or so much was sent that
// its words get lost. Then it has as long again to speak.
func (s *udpSender) listen(ctx context.Context) error {
	for {
		n, err := s.ctl.readNews(time.Now().Add(silenceLimit))
		if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil && !s.hushed.Swap(true) {
			continue
		}
		if err != nil {
			if lost := vanished(ctx, err, s.lastHeard(), 10*newsInterval); lost != nil {
				return lost
			}
			return err
		}
		if n.UDP == nil {
			return errNoProbe
		}
		if err := s.hear(*n.UDP); err != nil || n.UDP.Final {
			return err
		}
	}
}

func (s *udpSender) hear(n udpNews) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = time.Now()
	if n.TrialBytes > 0 {
		select {
		case <-s.trials: // superseded
		default:
		}
		s.trials <- n
	}
	if n.Behind {
		s.behind.Store(true)
	}
	if n.Count != nil {
		s.count = *n.Count
		s.keep(s.count, n.Final)
	}
	if n.Final {
		close(s.final)
	}
	return nil
}

func (s *udpSender) lastHeard() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

// send sends until the time or the bytes are used up.
func (s *udpSender) send(ctx context.Context) error {
	limit, stop := int64(wire.MaxBytes), time.Duration(1<<63-1)
	now := time.Since(s.began)
	if s.req.Bytes > 0 {
		limit = (s.req.Bytes + int64(s.bytes) - 1) / int64(s.bytes)
	}
	if s.req.DurationMs > 0 {
		stop = now + wire.Duration(s.req.DurationMs)
	}
	pace, first := newPacer(s.req.RateBps, s.bytes, now), now
	defer func() { s.noted = append(s.noted, point{At: now - first, Bytes: s.sent}) }()
	for s.sent < limit && now < stop && !s.hushed.Load() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		if n, wait := s.due(pace, now, limit-s.sent); wait > 0 {
			err = pause(ctx, min(wait, stop-now))
		} else {
			err = s.post(ctx, n, stop)
		}
		if err != nil {
			return err
		}
		now = time.Since(s.began)
		s.note(now - first)
	}
	return nil
}

// due is what the pace says, and without one a message after the other, unless
// the peer asks for a breather.
func (s *udpSender) due(pace *pacer, now time.Duration, limit int64) (int64, time.Duration) {
	if s.req.RateBps > 0 {
		return pace.due(now, limit)
	}
	if s.behind.Swap(false) {
		return 0, breather
	}
	return min(limit, s.out.room()), 0
}

// post sends n datagrams, or as many as it can until stop.
func (s *udpSender) post(ctx context.Context, n int64, stop time.Duration) error {
	for until := s.sent + n; s.sent < until && !s.hushed.Load(); {
		now := time.Since(s.began)
		if now >= stop || ctx.Err() != nil {
			return nil
		}
		sent, err := s.out.post(uint64(s.sent), min(until-s.sent, s.out.room()), now)
		s.sent += sent
		if err != nil && !isRefused(err) {
			return fmt.Errorf("send datagrams: %w", err)
		}
	}
	return nil
}

// transient is what a kernel says of a size that it has only just learned, or
// of packets before.
func transient(err error) bool {
	return isRefused(err) || errors.Is(err, unix.EMSGSIZE) || errors.Is(err, unix.EAGAIN)
}
