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

const (
	// maxSessions is how many tests peers may run against a server at a time.
	maxSessions = 64
	// portTries is how often a server looks for a port free for TCP and UDP.
	portTries = 20
)

// Server is what others measure against.
type Server struct {
	secret  []byte
	tcp     *net.TCPListener
	udp     *solo
	echoes  *echoes
	pending pending

	yielded chan struct{} // closed when another agent of the run took the port over
	yield   sync.Once

	mu       sync.Mutex
	sessions map[sessionID]*session
}

// session is one test of a peer's.
type session struct {
	key   mac
	takes taker
}

// taker is what becomes of a session's data connections.
type taker interface {
	// attach takes one in, once per stream.
	attach(stream int, conn *net.TCPConn) error
	// use returns when the connection is of no use any more.
	use(stream int, conn *net.TCPConn)
}

// Listen opens port, TCP and UDP, on all addresses; 0 chooses one. Call Serve
// next, and Close in any case.
func Listen(secret []byte, port int) (*Server, error) {
	return ListenOn(secret, netip.AddrPortFrom(netip.Addr{}, uint16(port)))
}

// ListenOn is Listen on one address of the machine, or on all if it is the
// unspecified address of either version of IP.
func ListenOn(secret []byte, addr netip.AddrPort) (*Server, error) {
	s := &Server{secret: secret, echoes: newEchoes(), yielded: make(chan struct{}), sessions: map[sessionID]*session{}}
	var err error
	for range portTries {
		if s.tcp, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(addr)); err != nil {
			return nil, err
		}
		if s.udp, err = soloUDP(s.addr(addr)); err == nil {
			break
		}
		s.tcp.Close()
		if addr.Port() != 0 {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// soloUDP is a socket of the server's, with stamps.
func soloUDP(addr netip.AddrPort) (*solo, error) {
	conn, err := listenUDP(addr)
	if err != nil {
		return nil, err
	}
	if err := prepareUDP(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return soloOf(conn)
}

// addr is a wish with the port that the server has.
func (s *Server) addr(wish netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(wish.Addr(), uint16(s.Port()))
}

// Port is where the server listens.
func (s *Server) Port() int { return s.tcp.Addr().(*net.TCPAddr).Port }

// Close ends Serve. Safe to call twice.
func (s *Server) Close() {
	s.tcp.Close()
	s.udp.close()
}

// Serve answers peers until ctx ends or Close is called, and returns when
// nothing of it runs any more. The error is nil then.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, s.Close)()
	var g errgroup.Group
	g.Go(func() error { defer cancel(); return s.echoes.serve(s.udp) })
	g.Go(func() error { defer cancel(); return s.accept(ctx, &g) })
	return g.Wait()
}

// accept ends when the listener is closed.
func (s *Server) accept(ctx context.Context, g *errgroup.Group) error {
	for {
		conn, err := s.tcp.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil { // out of descriptors or memory, or the peer is gone again
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(50 * time.Millisecond):
				continue
			}
		}
		proved := s.pending.add(conn)
		g.Go(func() error {
			stop := context.AfterFunc(ctx, func() { abort(conn) })
			defer stop()
			defer conn.Close()
			s.handle(ctx, conn, proved)
			return nil
		})
	}
}

// handle serves one connection to its end. What goes wrong here is told the
// peer where it has proved itself, and nobody otherwise.
func (s *Server) handle(ctx context.Context, conn *net.TCPConn, proved func()) {
	defer proved()
	if conn.SetDeadline(time.Now().Add(handshakeTimeout)) != nil {
		return
	}
	h, err := readHello(conn)
	if err != nil {
		abort(conn)
		return
	}
	if h.kind == helloData {
		s.data(conn, h, proved)
		return
	}
	ctl, err := s.prove(conn, nonce(h.token))
	if err != nil {
		abort(conn)
		return
	}
	proved()
	if err := s.control(ctx, ctl); err != nil {
		ctl.out.Write(news{Error: err.Error()}) // the peer may be gone: then nobody cares
	}
}

// readHello reads byte after byte as far as the magic, so that garbage ends
// with its first byte.
func readHello(conn *net.TCPConn) (hello, error) {
	b := make([]byte, helloBytes)
	for i := range magic {
		if err := readFull(conn, b[i:i+1]); err != nil {
			return hello{}, err
		}
		if b[i] != magic[i] {
			return hello{}, errNoProbe
		}
	}
	if err := readFull(conn, b[len(magic):]); err != nil {
		return hello{}, err
	}
	return parseHello(b)
}

// prove runs the server's side of the handshake.
func (s *Server) prove(conn *net.TCPConn, client nonce) (*control, error) {
	mine := newNonce()
	h := newHandshake(s.secret, client, mine)
	if _, err := conn.Write(append(mine[:], h.server[:]...)); err != nil {
		return nil, err
	}
	var proof mac
	if err := readFull(conn, proof[:]); err != nil {
		return nil, err
	}
	if !h.client.equal(proof[:]) {
		return nil, errStranger
	}
	return newControl(conn, h, maxControlLine)
}

// data lets a data connection into its session and leaves it there to its end.
func (s *Server) data(conn *net.TCPConn, h hello, proved func()) {
	s.mu.Lock()
	ses := s.sessions[h.session]
	s.mu.Unlock()
	if ses == nil || !streamProof(ses.key, "data", h.stream).equal(h.token[:]) {
		abort(conn)
		return
	}
	if err := ses.takes.attach(int(h.stream), conn); err != nil {
		abort(conn)
		return
	}
	proved()
	answer := streamProof(ses.key, "open", h.stream)
	conn.Write(answer[:]) // an error shows in use
	conn.SetDeadline(time.Time{})
	ses.takes.use(int(h.stream), conn)
}

// control runs the session of a proved peer.
func (s *Server) control(ctx context.Context, ctl *control) error {
	var o order
	if err := ctl.in.Read(&o); err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	if err := ctl.conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	ctx, cancel := withDeadline(ctx, o.DeadlineMs)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { abort(ctl.conn) })
	defer stop()
	switch {
	case o.Yield != nil:
		return s.giveWay(ctx, ctl)
	case o.Echo != nil:
		return s.echo(ctl, *o.Echo)
	case o.UDP != nil:
		return s.udpTest(ctx, ctl, *o.UDP)
	case o.Send != nil:
		return s.send(ctx, ctl, o)
	}
	return s.receive(ctx, ctl, o)
}

// receive runs a throughput session. It ends with its streams, its deadline,
// or its control connection, on which the client says nothing more.
func (s *Server) receive(ctx context.Context, ctl *control, o order) error {
	r := newReceiver(o.Receive.Streams, wire.Duration(o.DeadlineMs))
	r.window = o.Receive.WindowBytes
	defer r.close()
	if err := s.register(ctl, &session{key: ctl.key, takes: r}); err != nil {
		return err
	}
	defer s.forget(ctl.id)
	if err := ctl.out.Write(news{Ready: true}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		cancel(gone(ctl.in.Read(new(done)))) // it says nothing more, so this is its end
	}()
	err := r.report(ctx, ctl)
	ctl.conn.SetReadDeadline(time.Unix(1, 0))
	<-watched
	return err
}

func (s *Server) register(ctl *control, ses *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= maxSessions {
		return fmt.Errorf("busy with %d tests", maxSessions)
	}
	s.sessions[ctl.id] = ses
	return nil
}

func (s *Server) forget(id sessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
}

// remoteAddr is the address of the other end.
func remoteAddr(conn net.Conn) netip.Addr {
	return conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
}

// ownAddr is the address of this end.
func ownAddr(conn net.Conn) netip.Addr {
	return conn.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
}
