//go:build linux

package probe

import (
	"context"
	"net"
	"sync"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// Throughput sends to req.Peer what req asks for, or has it send, and says what
// arrived. On error the result is what was seen until then, nil if that is
// nothing.
func (c *Client) Throughput(ctx context.Context, req wire.Throughput) (*wire.ThroughputResult, error) {
	t, err := c.openTest(ctx, req)
	if err != nil {
		return nil, err
	}
	defer t.close()
	r, err := t.run()
	if err == nil && req.FlowCheck {
		c.checkFlows(t.ctx, t.sender, r)
	}
	return r, err
}

// Bidirectional is Throughput both ways at once: there is what the peer
// received, back what it sent. All connections of both stand before either
// begins. When one way fails the other ends, because it would have the path for
// itself.
func (c *Client) Bidirectional(ctx context.Context, req wire.Throughput) (there, back *wire.ThroughputResult, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req.Reverse = false
	one, err := c.openTest(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	defer one.close()
	req.Reverse = true
	if req.Options.ClientPort > 0 {
		req.Options.ClientPort += req.Streams
	}
	other, err := c.openTest(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	defer other.close()
	var wg sync.WaitGroup
	var errs [2]error
	wg.Go(func() { there, errs[0] = one.run(); cancelOn(cancel, errs[0]) })
	wg.Go(func() { back, errs[1] = other.run(); cancelOn(cancel, errs[1]) })
	wg.Wait()
	return there, back, context.Cause(ctx) // the first failure; the other one follows from it
}

func cancelOn(cancel context.CancelCauseFunc, err error) {
	if err != nil {
		cancel(err)
	}
}

// test is a throughput test on the side of its client, with all connections
// open. They close with close, and with the test's deadline.
type test struct {
	req    wire.Throughput
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   context.CancelFunc
	ctl    *control
	conns  []*net.TCPConn
	sender *sender         // nil before it runs, and if the peer sends
	watch  func(trace.Log) // see sender.watch
}

func (c *Client) openTest(ctx context.Context, req wire.Throughput) (*test, error) {
	peer, err := addrPort(req.Peer)
	if err != nil {
		return nil, err
	}
	t := &test{req: req}
	ctx, t.stop = withDeadline(ctx, req.DeadlineMs)
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	if t.ctl, err = c.open(t.ctx, peer, orderFor(req)); err != nil {
		t.close()
		return nil, err
	}
	if t.conns, err = t.ctl.openStreams(t.ctx, t.cancel, peer, &req); err != nil {
		defer t.close()
		return nil, context.Cause(t.ctx)
	}
	return t, nil
}

func orderFor(req wire.Throughput) order {
	o := order{DeadlineMs: req.DeadlineMs}
	if req.Reverse {
		req.Peer = wire.Peer{}
		o.Send = &req
	} else {
		o.Receive = &receiveOrder{Streams: req.Streams, WindowBytes: req.Options.ReceiveWindowBytes}
	}
	return o
}

// close closes every connection of the test. Safe to call twice.
func (t *test) close() {
	t.cancel(nil)
	t.stop()
}

func (t *test) run() (*wire.ThroughputResult, error) {
	if t.req.Reverse {
		return t.receive()
	}
	s, err := newSender(t.ctl, t.conns, t.req)
	if err != nil {
		return nil, causeOf(t.ctx, err)
	}
	s.watch, t.sender = t.watch, s
	err = s.run(t.ctx, t.cancel)
	return s.result(err)
}
