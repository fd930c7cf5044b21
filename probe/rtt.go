//go:build linux

package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/probe/wire"
)

// pinger is one round-trip test.
type pinger struct {
	ctl     *control
	socket  *solo
	peer    netip.AddrPort
	every   time.Duration
	enough  <-chan struct{} // closed when no more probes are wanted; may be nil
	silence error           // set when the peer vanished
	last    *lastWord       // of the peer; nil until it spoke
	trips
}

// RTT measures what req asks for. On error the result is what was seen until
// then, nil if no probe was sent.
func (c *Client) RTT(ctx context.Context, req wire.RTT) (*wire.RTTResult, error) {
	ctx, stop := withDeadline(ctx, req.DeadlineMs)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil) // closes every connection of the test
	p, err := c.pinger(ctx, req)
	if err != nil {
		return nil, err
	}
	defer p.socket.close()
	if !req.Path {
		return p.result(p.run(ctx, cancel, nil))
	}
	facts := startFacts(ctx, p)
	r, err := p.result(p.run(ctx, cancel, facts.finish))
	if r != nil {
		r.Path = facts.result(p.last)
	}
	return r, err
}

// pinger opens the session of a test.
func (c *Client) pinger(ctx context.Context, req wire.RTT) (*pinger, error) {
	peer, err := addrPort(req.Peer)
	if err != nil {
		return nil, err
	}
	o := order{Echo: &echoOrder{Probes: req.Probes}, DeadlineMs: req.DeadlineMs}
	ctl, err := c.open(ctx, peer, o)
	if err != nil {
		return nil, err
	}
	conn, err := dialUDP(ctl, peer)
	if err != nil {
		return nil, err
	}
	if err := prepareUDP(conn); err != nil {
		conn.Close()
		return nil, err
	}
	socket, err := soloOf(conn)
	if err != nil {
		return nil, err
	}
	p := &pinger{ctl: ctl, socket: socket, peer: peer, every: wire.Duration(req.IntervalMs)}
	p.trips.init(ctl.handshake, req.Probes, wire.Duration(req.WaitMs))
	return p, nil
}

// dialUDP leaves from the address the control connection has, the only one the
// peer answers.
func dialUDP(ctl *control, peer netip.AddrPort) (*net.UDPConn, error) {
	local := ctl.conn.LocalAddr().(*net.TCPAddr)
	return net.DialUDP("udp", &net.UDPAddr{IP: local.IP, Zone: local.Zone}, net.UDPAddrFromAddrPort(peer))
}

// run ends when every probe is answered or lost, when the peer is gone, or with
// ctx. Afterwards, which may be nil, is called in between, while the session
// still lives.
func (p *pinger) run(ctx context.Context, cancel context.CancelCauseFunc, afterwards func(context.Context)) error {
	var g errgroup.Group
	finished := make(chan struct{})
	g.Go(failing(cancel, func() error { return p.watch(ctx, finished) }))
	err := p.probe(ctx)
	if err == nil && afterwards != nil {
		afterwards(ctx)
		err = context.Cause(ctx)
	}
	close(finished)
	if err == nil {
		err = p.ctl.out.Write(done{Done: true})
	}
	if err != nil {
		cancel(err)
	}
	if err = errors.Join(err, g.Wait()); p.silence != nil {
		return p.silence
	}
	return causeOf(ctx, err)
}

// watch notices at once when the peer dies. Once the probes are finished it
// waits for the peer's last word, which tells lost packets from a lost peer.
func (p *pinger) watch(ctx context.Context, finished <-chan struct{}) error {
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-finished:
			p.ctl.conn.SetReadDeadline(time.Now().Add(silenceLimit))
		case <-stop:
		}
	}()
	last, err := p.hear()
	if _, wrong := errors.AsType[*wrongWord](err); err != nil && !wrong {
		p.silence = vanished(ctx, err, p.lastHeard(), 10*newsInterval+2*p.every+p.wait)
	}
	p.last = last
	return err
}

// probe sends every probe, and takes the answers in between and afterwards.
func (p *pinger) probe(ctx context.Context) error {
	if p.enough != nil {
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			select {
			case <-p.enough:
				p.socket.wake()
			case <-ended:
			}
		}()
	}
	p.socket.departed = p.departed
	return p.socket.use(ctx, func() error {
		if err := p.send(ctx); err != nil {
			return err
		}
		return p.await(ctx)
	})
}

// send sends every probe at its moment, a fixed distance from the first one's.
func (p *pinger) send(ctx context.Context) error {
	out := make([]byte, packetBytes)
	began := time.Now()
	for i := range p.probes {
		p.encode(i, out)
		if err := p.socket.takeUntil(ctx, began.Add(time.Duration(i)*p.every), p.enough, p.take); err != nil {
			return err
		}
		if isClosed(p.enough) {
			return nil
		}
		p.sending(i)
		if err := p.socket.send(out, nil, nil); err != nil && !isRefused(err) {
			return fmt.Errorf("send probe: %w", err)
		}
	}
	return nil
}

// await gives the last answers their time: beside another test, which has ended,
// as much as the others took.
func (p *pinger) await(ctx context.Context) error {
	wait := p.wait
	if p.enough != nil {
		wait = min(wait, 2*p.longest())
	}
	return p.socket.takeUntil(ctx, time.Now().Add(wait), p.allSent(), p.take)
}

func (p *pinger) result(err error) (*wire.RTTResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent == 0 {
		return nil, err
	}
	r := p.summarize(p.last)
	if r.Received == 0 && err == nil {
		err = fmt.Errorf("none of %d UDP probes to %v was answered within %v", p.sent, p.peer, p.wait)
	}
	return r, err
}
