//go:build linux

package probe

import (
	"context"
	"fmt"
	"net/netip"
	"time"
)

// udpTest runs a UDP throughput session. It ends when the client has said how
// much it sent and that has arrived or is lost, with its deadline, or with its
// control connection.
func (s *Server) udpTest(ctx context.Context, ctl *control, o udpOrder) error {
	k := &knock{id: ctl.id, key: ctl.key, addr: remoteAddr(ctl.conn), from: make(chan netip.AddrPort, 1)}
	if err := s.echoes.knocks.add(k); err != nil {
		return err
	}
	defer s.echoes.knocks.remove(ctl.id)
	if err := ctl.out.Write(news{Ready: true}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sent, watched := make(chan udpSent, 1), make(chan struct{})
	go func() {
		defer close(watched)
		cancel(ctl.lastWord(sent))
	}()
	err := s.receiveUDP(ctx, cancel, ctl, k, o, sent)
	ctl.conn.SetReadDeadline(time.Unix(1, 0))
	<-watched
	return err
}

// lastWord reads the client's last line, and then until it is gone.
func (c *control) lastWord(sent chan<- udpSent) error {
	var last udpSent
	if err := c.in.Read(&last); err != nil {
		return gone(err)
	}
	sent <- last
	return gone(c.in.Read(new(done)))
}

// receiveUDP waits for the knock, which the client repeats, and then counts.
func (s *Server) receiveUDP(ctx context.Context, cancel context.CancelCauseFunc, ctl *control, k *knock, o udpOrder, sent <-chan udpSent) error {
	from, err := k.await(ctx, ctl)
	if err != nil {
		return err
	}
	local := ctl.conn.LocalAddr().(interface{ AddrPort() netip.AddrPort }).AddrPort().Addr().Unmap().WithZone("")
	socket, err := acceptUDP(s.udp, local, from)
	if err != nil {
		return fmt.Errorf("open a socket for %v: %w", from, err)
	}
	defer socket.Close()
	r, err := newUDPReceiver(socket, ctl.key, o.Offload)
	if err != nil {
		return err
	}
	received := make(chan struct{})
	go func() {
		defer close(received)
		if err := r.receive(); err != nil {
			cancel(fmt.Errorf("receive: %w", err))
		}
	}()
	err = r.report(ctx, ctl, sent)
	r.ended.Store(true)
	<-received
	return err
}

// await waits for a knock, and tells the client all the while that it does.
func (k *knock) await(ctx context.Context, ctl *control) (netip.AddrPort, error) {
	tick := time.NewTicker(newsInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return netip.AddrPort{}, context.Cause(ctx)
		case from := <-k.from:
			return from, nil
		case <-tick.C:
			if err := ctl.out.Write(news{UDP: &udpNews{}}); err != nil {
				return netip.AddrPort{}, err
			}
		}
	}
}

// report sends the count every newsInterval, and for good when the client has
// said how much it sent and nothing more is to be expected.
func (r *udpReceiver) report(ctx context.Context, ctl *control, sent <-chan udpSent) error {
	tick := time.NewTicker(newsInterval)
	defer tick.Stop()
	var last *udpSent
	var said time.Time
	for {
		var n udpNews
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case s := <-sent:
			last, said = &s, time.Now()
			continue
		case <-r.behind:
			n = udpNews{Behind: true}
		case bytes := <-r.tried:
			n = udpNews{TrialBytes: bytes, Offload: r.offload}
		case <-tick.C:
			c, latest := r.count()
			n = udpNews{Count: &c, Final: last != nil && tailOver(time.Now(), said, latest, c.Datagrams < last.Datagrams)}
		}
		if err := ctl.out.Write(news{UDP: &n}); err != nil || n.Final {
			return err
		}
	}
}

// tailOver says whether a receiver need not wait any longer for what was sent
// before the client said so.
func tailOver(now, said, latest time.Time, missing bool) bool {
	if latest.Before(said) {
		latest = said
	}
	quiet := tailQuiet
	if missing {
		quiet = tailMissing
	}
	return now.Sub(latest) >= quiet || now.Sub(said) >= tailLimit
}
