//go:build linux

package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/host"
	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// sender is the sending side of one throughput test.
type sender struct {
	ctl     *control
	conns   []*net.TCPConn
	limit   wire.Throughput
	budget  atomic.Int64  // bytes not yet claimed by a stream
	writing atomic.Int64  // streams that have more to write
	stop    time.Time     // of writing; zero: none
	every   time.Duration // between samples

	congestion string // control in force
	sendMemory sendMemory
	meter      *host.Meter // of this machine
	peer       *trace.Host // what the peer's machine did; nil until it said so
	log        trace.Log
	rule       *trace.Rule     // nil: only the limits end the test
	watch      func(trace.Log) // is shown the log whenever it has grown; nil: nobody
	stopped    string          // by what; empty: not yet
	backlog    int             // bytes each socket may hold unsent; 0: not limited yet
	last       totals          // of the last sample
	streams    *streams        // each by itself
	received   timeline        // by the peer
	heard      time.Time
	final      *count // nil until the peer has counted all
	silence    error  // set when the peer vanished
}

// newSender sends what limit asks for over connections of which the peer knows,
// by its control connection. Call run next.
func newSender(ctl *control, conns []*net.TCPConn, limit wire.Throughput) (*sender, error) {
	s := &sender{ctl: ctl, conns: conns, limit: limit, every: sampleInterval(wire.Duration(limit.DeadlineMs))}
	for _, conn := range conns {
		if err := conn.SetNoDelay(limit.Options.NoDelay); err != nil {
			return nil, err
		}
	}
	var err error
	s.congestion, err = congestionControl(conns[0])
	return s, err
}

// run ends when the peer has counted everything, when anything fails, or with
// ctx: each of the three closes the connections, which ends every goroutine.
func (s *sender) run(ctx context.Context, cancel context.CancelCauseFunc) error {
	all, each, err := s.totals()
	if err != nil {
		return err
	}
	s.last, s.streams = all, newStreams(each)
	if s.limit.ErrorRatio > 0 {
		s.rule = trace.NewRule(s.congestion, all.mss, len(s.conns), s.limit.ErrorRatio)
	}
	source := newSource(s.limit.Options.RateBps == 0)
	defer source.close()
	s.start()
	s.sendMemory, s.meter = newSendMemory(), host.Start(ownAddr(s.conns[0]))
	var g errgroup.Group
	counted := make(chan struct{})
	for _, conn := range s.conns {
		g.Go(failing(cancel, func() error { return s.write(ctx, conn, source) }))
	}
	g.Go(failing(cancel, func() error { return s.listen(ctx, counted) }))
	s.sample(ctx, counted)
	if err := g.Wait(); s.silence == nil {
		return causeOf(ctx, err)
	}
	return s.silence
}

// failing makes the first failure end the whole test, as its cause.
func failing(cancel context.CancelCauseFunc, f func() error) func() error {
	return func() error {
		err := f()
		if err != nil {
			cancel(err)
		}
		return err
	}
}

func (s *sender) start() {
	now := time.Now()
	s.heard = now
	s.writing.Store(int64(len(s.conns)))
	s.budget.Store(wire.MaxBytes)
	if s.limit.Bytes > 0 {
		s.budget.Store(s.limit.Bytes)
	}
	if s.limit.DurationMs > 0 {
		s.stop = now.Add(wire.Duration(s.limit.DurationMs))
	}
}

// write feeds one stream until the time or the bytes are used up, then
// half-closes it.
func (s *sender) write(ctx context.Context, conn *net.TCPConn, source *source) error {
	if err := conn.SetWriteDeadline(s.stop); err != nil {
		return err
	}
	feed := source.feed()
	defer feed.close()
	pace := paced(s.limit.Options.RateBps, len(s.conns))
	for n := s.claim(&pace); n > 0; n = s.claim(&pace) {
		if !pace.wait(ctx, n, s.stop) {
			break
		}
		err := feed.send(conn, int(n))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE) {
			return fmt.Errorf("%w: %w", errPeerDied, err)
		}
		if err != nil {
			return err
		}
	}
	s.writing.Add(-1)
	return conn.CloseWrite()
}

// enough ends the writing before its limits do.
func (s *sender) enough() {
	s.stopped = wire.StoppedSteady
	s.budget.Store(0)
	for _, conn := range s.conns {
		conn.SetWriteDeadline(time.Now()) // fails only on a closed connection
	}
}

// claim takes a share of the remaining bytes. Shares are small against the
// whole, so that all streams end together however unequal they are.
func (s *sender) claim(pace *pace) int64 {
	share := pace.share(feedBytes)
	if s.limit.Bytes > 0 {
		fair := s.limit.Bytes / int64(16*len(s.conns))
		share = min(share, max(fair, 16<<10))
	}
	left := s.budget.Add(-share) + share
	return min(share, max(left, 0))
}

// offered is how many bytes streams have claimed, an upper bound of what was sent.
func (s *sender) offered() int64 {
	whole := int64(wire.MaxBytes)
	if s.limit.Bytes > 0 {
		whole = s.limit.Bytes
	}
	return whole - max(s.budget.Load(), 0)
}

// listen takes in the peer's news until its final count, and closes counted.
func (s *sender) listen(ctx context.Context, counted chan<- struct{}) error {
	for {
		n, err := s.ctl.readNews(time.Now().Add(silenceLimit))
		if err != nil {
			s.silence = vanished(ctx, err, s.heard, 10*newsInterval)
			return err
		}
		s.heard = time.Now()
		if err := s.received.add(n.Samples); err != nil {
			return err
		}
		if n.Count != nil {
			if err := n.Count.check(len(s.conns), s.offered()); err != nil {
				return err
			}
			s.final, s.peer = n.Count, n.Host
			close(counted)
			return nil
		}
	}
}

// vanished is the error for a peer that was silent for longer than it may be,
// without having ended; nil if err is something else. When the test's deadline
// came first, that is part of it.
func vanished(ctx context.Context, err error, heard time.Time, may time.Duration) error {
	silent := time.Since(heard)
	cause := context.Cause(ctx)
	late := errors.Is(cause, errDeadline) || cause == nil && errors.Is(err, os.ErrDeadlineExceeded)
	if !late || silent < may {
		return nil
	}
	gone := fmt.Errorf("peer vanished: nothing received for %v", silent.Round(10*time.Millisecond))
	if cause != nil {
		return fmt.Errorf("%w (%w)", gone, cause)
	}
	return gone
}
