//go:build linux

package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// openTimeout is how long a client may need to open its streams: each takes
// connectTimeout at most, and so many are under way at a time.
const openTimeout = (wire.MaxStreams/maxDialling + 1) * connectTimeout

// gathering is the streams of a test in which the server sends.
type gathering struct {
	connSet
	test  *wire.Throughput
	ended chan struct{} // closed with the session
}

func (g *gathering) attach(stream int, conn *net.TCPConn) error {
	raw, err := conn.SyscallConn()
	if err == nil {
		err = prepareTCPSender(raw, g.test)
	}
	if err != nil {
		return err
	}
	return g.connSet.attach(stream, conn)
}

func (g *gathering) use(int, *net.TCPConn) { <-g.ended }

// send runs a throughput session in which the server sends, over connections
// that the client has opened and proved, never more than the order's limits. It
// ends with its final result, its deadline, or its control connection.
func (s *Server) send(ctx context.Context, ctl *control, o order) error {
	test := *o.Send
	test.DeadlineMs = o.DeadlineMs
	g := &gathering{connSet: connSet{conns: make([]*net.TCPConn, test.Streams)}, test: &test, ended: make(chan struct{})}
	defer close(g.ended)
	defer g.close()
	if err := s.register(ctl, &session{key: ctl.key, takes: g}); err != nil {
		return err
	}
	defer s.forget(ctl.id)
	if err := ctl.out.Write(news{Ready: true}); err != nil {
		return err
	}
	n, err := ctl.readNews(time.Now().Add(openTimeout))
	if err != nil {
		return err
	}
	conns, whole := g.all()
	if !whole || !n.Ready {
		return errors.New("the streams are not all open")
	}
	sender, err := newSender(ctl, conns, test)
	if err != nil {
		return err
	}
	r, err := sender.sendTo(ctx, g)
	last := news{Result: r}
	if err != nil {
		last.Error = err.Error()
	}
	return ctl.out.Write(last)
}

// sendTo sends, with a sign of life now and then, and closes the streams when
// anything fails.
func (s *sender) sendTo(ctx context.Context, g *gathering) (*wire.ThroughputResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(ctx, g.close)
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	wg.Go(func() { s.ctl.pulse(ctx) })
	err := s.run(ctx, cancel)
	return s.result(err)
}

// pulse says that this side is there until ctx ends or nobody hears it.
func (c *control) pulse(ctx context.Context) {
	tick := time.NewTicker(newsInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if c.out.Write(news{}) != nil {
				return
			}
		}
	}
}

// receive counts what the peer sends and returns the peer's result; without one
// what was counted.
func (t *test) receive() (*wire.ThroughputResult, error) {
	r := newReceiver(t.req.Streams, wire.Duration(t.req.DeadlineMs))
	r.window, r.conns = t.req.Options.ReceiveWindowBytes, t.conns
	var wg sync.WaitGroup
	defer wg.Wait()
	defer t.cancel(nil)
	for i, conn := range t.conns {
		wg.Go(func() { r.use(i, conn) })
	}
	if err := t.ctl.out.Write(news{Ready: true}); err != nil {
		return nil, causeOf(t.ctx, err)
	}
	wg.Go(func() {
		if err := r.report(t.ctx, t.ctl); err != nil {
			t.cancel(died(err))
		}
	})
	result, err := t.await()
	if err == nil {
		_, counted := r.total()
		err = agrees(result, counted, t.req.Streams)
	}
	if err != nil {
		return r.partial(result), err
	}
	return result, nil
}

// await hears the peer's signs of life until its result.
func (t *test) await() (*wire.ThroughputResult, error) {
	heard := time.Now()
	for {
		n, err := t.ctl.readNews(time.Now().Add(silenceLimit))
		if err != nil {
			if gone := vanished(t.ctx, err, heard, 10*newsInterval); gone != nil {
				return n.Result, gone
			}
			return n.Result, died(causeOf(t.ctx, err))
		}
		heard = time.Now()
		if n.Result != nil {
			return n.Result, nil
		}
	}
}

// died names a reset in the middle of a test, which is what a kernel does to the
// connections of a process that is killed.
func died(err error) error {
	if errors.Is(err, unix.ECONNRESET) {
		return fmt.Errorf("%w: %w", errPeerDied, err)
	}
	return err
}

var errBadResult = errors.New("peer's result does not agree with what was received")

// nameForm is that of all words in a result: a peer's may be printed.
var nameForm = regexp.MustCompile(`^[a-zA-Z0-9_.-]{0,64}$`)

// agrees holds a peer's result against what was counted here.
func agrees(r *wire.ThroughputResult, c *count, streams int) error {
	if r.Bytes != c.Bytes || r.Streams != streams || len(r.PerStream) != streams || r.GoodputBps < 0 || r.DurationS < 0 {
		return fmt.Errorf("%w: %d bytes in %d streams, counted %d in %d", errBadResult, r.Bytes, r.Streams, c.Bytes, streams)
	}
	if len(r.LimitedByEvidence) > 1000 || strings.ContainsFunc(r.LimitedByEvidence, unicode.IsControl) {
		return fmt.Errorf("%w: %.40q", errBadResult, r.LimitedByEvidence)
	}
	for _, word := range append([]string{r.CongestionControl, r.LimitedBy, r.StoppedBy}, r.Flags...) {
		if !nameForm.MatchString(word) {
			return fmt.Errorf("%w: %.40q", errBadResult, word)
		}
	}
	return nil
}

// partial is what there is of a test without the peer's result: what was counted
// of it, nil if that is nothing.
func (r *receiver) partial(theirs *wire.ThroughputResult) *wire.ThroughputResult {
	_, c := r.total()
	if theirs != nil && agrees(theirs, c, len(r.bytes)) == nil {
		return theirs
	}
	if c.Bytes == 0 || c.SpanUs == 0 {
		return nil
	}
	mean := bps(c.Bytes, c.span())
	p := &wire.ThroughputResult{
		Bytes: c.Bytes, DurationS: c.span().Seconds(), GoodputBps: mean, GoodputMeanBps: mean, Streams: len(r.bytes),
		LimitedBy: "unknown", Flags: []string{trace.FlagPartial},
	}
	for _, bytes := range c.Streams {
		p.PerStream = append(p.PerStream, wire.StreamResult{Bytes: bytes, GoodputBps: bps(bytes, c.span())})
	}
	return p
}
