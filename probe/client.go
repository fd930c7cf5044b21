//go:build linux

package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/probe/wire"
)

var (
	errPeerDied = errors.New("peer ended in the middle of the test")
	errDeadline = errors.New("deadline exceeded")
)

// maxDialling is how many connections of one test are opened at the same time:
// a server answers each within a round trip, and has 128 waiting at most.
const maxDialling = 32

// Client measures against Servers that hold the same secret. It is safe for
// concurrent use.
type Client struct {
	secret []byte
}

// NewClient returns a Client for a run's secret of wire.SecretBytes bytes.
func NewClient(secret []byte) *Client { return &Client{secret: secret} }

// withDeadline bounds a whole test.
func withDeadline(ctx context.Context, deadlineMs float64) (context.Context, context.CancelFunc) {
	d := wire.Duration(deadlineMs)
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%w: %v", errDeadline, d))
}

// open connects, proves the secret both ways, places the order and waits until
// the peer is ready for it.
func (c *Client) open(ctx context.Context, peer netip.AddrPort, o order) (*control, error) {
	ctl, err := func() (*control, error) {
		conn, by, err := dial(ctx, peer, 0, nil)
		if err != nil {
			return nil, err
		}
		ctl, err := c.prove(conn)
		if err != nil {
			return nil, err
		}
		return ctl, ctl.place(o, by)
	}()
	if err != nil {
		return nil, fmt.Errorf("open control connection to %v: %w", peer, causeOf(ctx, err))
	}
	return ctl, nil
}

// place sends the order and waits for "ready".
func (c *control) place(o order, by time.Time) error {
	if err := c.out.Write(o); err != nil {
		return err
	}
	n, err := c.readNews(by)
	if err == nil && !n.Ready {
		err = errNoProbe
	}
	return errors.Join(err, c.conn.SetDeadline(time.Time{}))
}

// dial opens a TCP connection that lives until ctx ends, from a local port unless
// that is 0, and from a socket prepared unless that is nil. Until the caller says
// otherwise its reads and writes end by the returned time.
func dial(ctx context.Context, peer netip.AddrPort, port int, prepare func(syscall.RawConn) error) (*net.TCPConn, time.Time, error) {
	by := time.Now().Add(connectTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(by) {
		by = d
	}
	d := net.Dialer{Deadline: by}
	if port != 0 {
		d.LocalAddr = &net.TCPAddr{Port: port}
	}
	if prepare != nil {
		d.Control = func(_, _ string, raw syscall.RawConn) error { return prepare(raw) }
	}
	conn, err := d.DialContext(ctx, "tcp", peer.String())
	if err != nil {
		return nil, by, err
	}
	tcp := conn.(*net.TCPConn)
	context.AfterFunc(ctx, func() { abort(tcp) })
	return tcp, by, tcp.SetDeadline(by)
}

// prove runs the client's side of the handshake.
func (c *Client) prove(conn *net.TCPConn) (*control, error) {
	mine := newNonce()
	if _, err := conn.Write(hello{kind: helloControl, token: mine}.encode()); err != nil {
		return nil, err
	}
	var answer struct {
		nonce nonce
		proof mac
	}
	if err := readFull(conn, answer.nonce[:], answer.proof[:]); err != nil {
		return nil, err
	}
	h := newHandshake(c.secret, mine, answer.nonce)
	if !h.server.equal(answer.proof[:]) {
		return nil, errStranger
	}
	if _, err := conn.Write(h.client[:]); err != nil {
		return nil, err
	}
	return newControl(conn, h, wire.MaxLine)
}

func readFull(r io.Reader, parts ...[]byte) error {
	for _, p := range parts {
		if _, err := io.ReadFull(r, p); err != nil {
			return gone(err)
		}
	}
	return nil
}

// openStreams opens a test's data connections. The first failure ends ctx
// through cancel, and with it those already open.
func (c *control) openStreams(ctx context.Context, cancel context.CancelCauseFunc, peer netip.AddrPort, t *wire.Throughput) ([]*net.TCPConn, error) {
	conns := make([]*net.TCPConn, t.Streams)
	var g errgroup.Group
	g.SetLimit(maxDialling)
	for i := range conns {
		g.Go(func() (err error) {
			conns[i], err = c.openStream(ctx, peer, uint16(i), t)
			if err != nil {
				err = fmt.Errorf("open data connection to %v: %w", peer, causeOf(ctx, err))
				cancel(err)
			}
			return err
		})
	}
	return conns, g.Wait()
}

func (c *control) openStream(ctx context.Context, peer netip.AddrPort, i uint16, t *wire.Throughput) (*net.TCPConn, error) {
	port := t.Options.ClientPort
	if port != 0 {
		port += int(i)
	}
	conn, _, err := dial(ctx, peer, port, func(raw syscall.RawConn) error { return prepareClient(raw, t) })
	if err != nil {
		return nil, err
	}
	h := hello{kind: helloData, stream: i, session: c.id, token: streamProof(c.key, "data", i)}
	if _, err := conn.Write(h.encode()); err != nil {
		return nil, err
	}
	var answer mac
	if err := readFull(conn, answer[:]); err != nil {
		return nil, err
	}
	if !streamProof(c.key, "open", i).equal(answer[:]) {
		return nil, errStranger
	}
	return conn, conn.SetDeadline(time.Time{})
}

// abort closes a connection without sending what is still queued, so that an
// ended test leaves no traffic behind. Safe to call twice.
func abort(conn *net.TCPConn) {
	conn.SetLinger(0) // fails only on a closed connection
	conn.Close()
}

// causeOf prefers why ctx ended to the error its end led to.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func addrPort(p wire.Peer) (netip.AddrPort, error) {
	a, err := netip.ParseAddr(p.Addr)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(a.Unmap(), uint16(p.Port)), nil
}
