package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/antipode-bench/antipode/lab/seqpacket"
)

// server answers controllers.
type server struct {
	planet *planet
}

// accept serves everybody who enters, until the listener fails.
func (s *server) accept(l *net.UnixListener) error {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		go func() {
			if err := s.serve(seqpacket.New(c)); err != nil {
				fmt.Fprintln(os.Stderr, "lab: controller:", err)
			}
		}()
	}
}

// errNotDetached is the end of a named lab whose starter went before it was up.
var errNotDetached = errors.New("the starter went before the lab was up")

// serveStarter serves the one who starts a named lab. The lab stays only if the
// starter gets as far as to say that it may.
func (s *server) serveStarter(conn *seqpacket.Conn) error {
	k := s.newSession(conn)
	if err := k.run(); err != nil {
		return err
	}
	if !k.detached {
		return errNotDetached
	}
	return nil
}

// serve answers one controller until it is gone.
func (s *server) serve(conn *seqpacket.Conn) error { return s.newSession(conn).run() }

// session is one controller's connection.
type session struct {
	planet   *planet
	conn     *seqpacket.Conn
	detached bool

	mu      sync.Mutex
	running map[uint64]context.CancelFunc
	group   sync.WaitGroup
}

func (s *server) newSession(conn *seqpacket.Conn) *session {
	return &session{planet: s.planet, conn: conn, running: make(map[uint64]context.CancelFunc)}
}

// run ends, without an error, when the controller closes its end.
func (k *session) run() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer k.group.Wait()
	defer k.conn.Close()
	defer cancel()
	if err := k.conn.Send(response{Hello: &hello{protocolVersion, k.planet.endpoints}}); err != nil {
		return ignoreGone(err)
	}
	for {
		var r request
		files, err := k.conn.Receive(&r)
		if err != nil {
			return ignoreGone(err)
		}
		seqpacket.CloseAll(files) // nobody should send any
		switch r.Op {
		case opCancel:
			k.cancel(r.ID)
		case opDetach:
			k.detached = true
			k.answer(r.ID, nil, nil)
		default:
			k.begin(ctx, r)
		}
	}
}

// ignoreGone takes the other end's leaving for a normal end.
func ignoreGone(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// begin answers r in a goroutine of its own, because dials take their time.
func (k *session) begin(ctx context.Context, r request) {
	ctx, cancel := context.WithCancel(ctx)
	k.mu.Lock()
	k.running[r.ID] = cancel
	k.mu.Unlock()
	k.group.Go(func() {
		defer k.cancel(r.ID)
		files, err := k.planet.handle(ctx, r)
		k.answer(r.ID, files, err)
	})
}

func (k *session) cancel(id uint64) {
	k.mu.Lock()
	cancel := k.running[id]
	delete(k.running, id)
	k.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// answer sends the outcome and closes our copies of the files. A failed send means
// that the controller is gone, which Receive notices too.
func (k *session) answer(id uint64, files []*os.File, err error) {
	defer seqpacket.CloseAll(files)
	r := response{ID: id}
	if err != nil {
		r.Error = packError(err)
	}
	_ = k.conn.Send(r, files...)
}

// handle does what a controller asks; the answer is files for it to have.
func (p *planet) handle(ctx context.Context, r request) ([]*os.File, error) {
	switch r.Op {
	case opEnter:
		return p.places.enter(ctx, r.Region)
	case opDial:
		f, err := dialFile(ctx, r.Network, r.Addr)
		return only(f, err)
	}
	data, err := p.tell(ctx, r)
	if err != nil {
		return nil, err
	}
	f, err := memFile("lab-"+r.Op, data)
	return only(f, err)
}

func only(f *os.File, err error) ([]*os.File, error) {
	if err != nil {
		return nil, err
	}
	return []*os.File{f}, nil
}

// tell answers what is answered with words.
func (p *planet) tell(ctx context.Context, r request) ([]byte, error) {
	var data []byte
	var err error
	switch r.Op {
	case opRegions:
		data, err = json.Marshal(p.places.list())
	case opInventory:
		data, err = p.inventory()
	case opWorld:
		data = p.worldFile
	case opCounts:
		data, err = p.counts(r.Between)
	case opFlows:
		data, err = json.Marshal(p.router.FlowCounts())
	case opMachine:
		data, err = p.startMachine(ctx, r.Machine)
	default:
		err = fmt.Errorf("unknown request %q", r.Op)
	}
	return data, err
}

// dialFile opens a TCP connection from this process's network namespace.
func dialFile(ctx context.Context, network, addr string) (*os.File, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil, net.UnknownNetworkError(network)
	}
	return tcp.File()
}
