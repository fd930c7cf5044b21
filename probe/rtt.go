//go:build linux

package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/probe/wire"
)

// pinger is one round-trip test.
type pinger struct {
	ctl     *control
	conn    *net.UDPConn
	every   time.Duration
	wait    time.Duration // for each answer
	signer  *signer
	silence error // set when the peer vanished

	mu       sync.Mutex
	probes   []probe
	sent     int
	received int
	all      chan struct{} // closed when every probe is answered
}

// probe is one packet's fate.
type probe struct {
	sent     time.Time     // holds the monotonic and the wall clock
	rtt      time.Duration // valid once answered
	answered bool
}

// RTT measures what req asks for. On error the result is what was seen until
// then, nil if no probe was sent.
func (c *Client) RTT(ctx context.Context, req wire.RTT) (*wire.RTTResult, error) {
	peer, err := addrPort(req.Peer)
	if err != nil {
		return nil, err
	}
	ctx, stop := withDeadline(ctx, req.DeadlineMs)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil) // closes every connection of the test
	o := order{Echo: &echoOrder{Probes: req.Probes}, DeadlineMs: req.DeadlineMs}
	ctl, err := c.open(ctx, peer, o)
	if err != nil {
		return nil, err
	}
	conn, err := dialUDP(ctl, peer)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	p := &pinger{
		ctl: ctl, conn: conn,
		every: wire.Duration(req.IntervalMs), wait: wire.Duration(req.WaitMs),
		signer: newSigner(ctl.key),
		probes: make([]probe, req.Probes), all: make(chan struct{}),
	}
	return p.result(peer, p.run(ctx, cancel))
}

// dialUDP leaves from the address the control connection has, the only one the
// peer answers.
func dialUDP(ctl *control, peer netip.AddrPort) (*net.UDPConn, error) {
	local := ctl.conn.LocalAddr().(*net.TCPAddr)
	conn, err := net.DialUDP("udp", &net.UDPAddr{IP: local.IP, Zone: local.Zone}, net.UDPAddrFromAddrPort(peer))
	if err != nil {
		return nil, err
	}
	if err := prepareUDP(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// run ends when every probe is answered or lost, when the peer is gone, or with
// ctx. It closes the socket, which ends the receiving goroutine.
func (p *pinger) run(ctx context.Context, cancel context.CancelCauseFunc) error {
	var g errgroup.Group
	finished := make(chan struct{})
	g.Go(func() error { p.receive(); return nil })
	g.Go(failing(cancel, func() error { return p.watch(ctx, finished) }))
	err := p.send(ctx)
	if err == nil {
		err = p.await(ctx)
	}
	p.conn.Close()
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
	n, err := p.ctl.read()
	if err != nil {
		p.silence = vanished(ctx, err, p.lastHeard(), 10*newsInterval+2*p.every+p.wait)
		return err
	}
	if n.Echoed == nil {
		return errNoProbe
	}
	return nil
}

// send sends every probe at its moment, a fixed distance from the first one's.
func (p *pinger) send(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	out := make([]byte, packetBytes)
	began := time.Now()
	for i := range p.probes {
		p.mu.Lock()
		p.signer.encode(packet{kind: packetQuery, session: p.ctl.id, seq: uint32(i)}, out)
		p.mu.Unlock()
		timer.Reset(time.Until(began.Add(time.Duration(i) * p.every)))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		p.mu.Lock()
		p.sent = i + 1
		p.probes[i].sent = time.Now()
		p.mu.Unlock()
		if _, err := p.conn.Write(out); err != nil && !isRefused(err) {
			return fmt.Errorf("send probe: %w", err)
		}
	}
	return nil
}

// await gives the last answers their time.
func (p *pinger) await(ctx context.Context) error {
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.all:
	case <-timer.C:
	}
	return nil
}

// receive takes answers until the socket is closed.
func (p *pinger) receive() {
	in := newInbox(p.conn)
	for {
		a, err := in.next()
		now := time.Now()
		if err != nil && !isRefused(err) {
			return
		}
		if err == nil {
			p.take(a, now)
		}
	}
}

// take counts an answer: once, of a probe of this test, within the wait.
func (p *pinger) take(a arrival, now time.Time) {
	ans, err := parsePacket(a.data)
	if err != nil || ans.kind != packetAnswer || ans.session != p.ctl.id {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if int64(ans.seq) >= int64(p.sent) || !p.signer.verify(a.data) {
		return
	}
	pr := &p.probes[ans.seq]
	elapsed := now.Sub(pr.sent)
	if pr.answered || elapsed > p.wait {
		return
	}
	pr.answered, pr.rtt = true, roundTrip(pr.sent, now, a.stamp, ans.residence)
	p.received++
	if p.received == len(p.probes) {
		close(p.all)
	}
}

// roundTrip takes off what is not the network's: the time until this process
// woke up, by the kernel's stamp of the arrival, and the time at the responder.
// Either is left in when it can't be true, as when a wall clock was set
// meanwhile; only this machine's monotonic clock is trusted.
func roundTrip(sent, now, stamp time.Time, residence time.Duration) time.Duration {
	rtt := now.Sub(sent)
	if wall := stamp.Round(0).Sub(sent.Round(0)); !stamp.IsZero() && wall > 0 && wall < rtt {
		rtt = wall
	}
	if residence >= 0 && residence < rtt {
		rtt -= residence
	}
	return rtt
}

// lastHeard is when the latest probe that was answered was sent, the start if
// none was.
func (p *pinger) lastHeard() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := p.sent - 1; i >= 0; i-- {
		if p.probes[i].answered {
			return p.probes[i].sent
		}
	}
	return p.probes[0].sent
}

func (p *pinger) result(peer netip.AddrPort, err error) (*wire.RTTResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent == 0 {
		return nil, err
	}
	var rtts []float64 // ms
	for _, pr := range p.probes[:p.sent] {
		if pr.answered {
			rtts = append(rtts, pr.rtt.Seconds()*1e3)
		}
	}
	if len(rtts) == 0 && err == nil {
		err = fmt.Errorf("none of %d UDP probes to %v was answered within %v", p.sent, peer, p.wait)
	}
	return summarize(p.sent, rtts), err
}
