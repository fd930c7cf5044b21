package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/antipode-bench/antipode/lab/seqpacket"
)

// client is the controller's end of a control socket.
type client struct {
	conn *seqpacket.Conn
	proc *process // nil when the lab was entered
	home *state   // of the lab, when it was entered by its name

	mu      sync.Mutex
	nextID  uint64
	waiting map[uint64]chan answer
	conns   map[*labConn]struct{}
	closed  bool  // by us
	cause   error // set before gone is closed

	gone chan struct{}
}

// answer is a response with the descriptors that came along.
type answer struct {
	err   error
	files []*os.File
}

// connect waits for the lab's hello and then takes conn over. On an error conn is closed.
func connect(ctx context.Context, conn *seqpacket.Conn, proc *process) (*Lab, error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	hi, err := readHello(conn)
	if !stop() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	c := &client{
		conn: conn, proc: proc, gone: make(chan struct{}),
		waiting: make(map[uint64]chan answer), conns: make(map[*labConn]struct{}),
	}
	go c.receive()
	return &Lab{control: c, endpoints: hi.Endpoints}, nil
}

func readHello(conn *seqpacket.Conn) (*hello, error) {
	var r response
	files, err := conn.Receive(&r)
	seqpacket.CloseAll(files)
	switch {
	case err != nil:
		return nil, err
	case r.Error != nil:
		return nil, r.Error.unpack()
	case r.Hello == nil || r.Hello.Version != protocolVersion:
		return nil, errors.New("the lab was started by another version of antipode: end it and start it again")
	}
	return r.Hello, nil
}

// receive hands out the answers until the lab is gone.
func (c *client) receive() {
	for {
		var r response
		files, err := c.conn.Receive(&r)
		if err != nil {
			c.end(err)
			return
		}
		a := answer{files: files}
		if r.Error != nil {
			a.err = r.Error.unpack()
		}
		c.deliver(r.ID, a)
	}
}

// deliver gives a to who waits for it; an answer nobody wants any more is closed.
func (c *client) deliver(id uint64, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.waiting[id]; ch != nil {
		delete(c.waiting, id)
		ch <- a // has room for one
	} else {
		seqpacket.CloseAll(a.files)
	}
}

// end ends everything that belongs to the lab and then tells that it is gone.
func (c *client) end(cause error) {
	c.conn.Close()
	if errors.Is(cause, io.EOF) {
		cause = errors.New("the lab is gone")
	}
	if c.proc != nil {
		c.proc.kill() // its control socket is closed: it is of no more use
		cause = fmt.Errorf("the lab is gone: %w", c.proc.wait())
	}
	c.mu.Lock()
	if !c.closed {
		c.cause = cause
	}
	conns := c.conns
	c.conns = nil
	c.mu.Unlock()
	close(c.gone)
	for conn := range conns {
		// Without a farewell that nobody would hear, but that the namespace would wait for.
		_ = conn.SetLinger(0)
		conn.TCPConn.Close()
	}
}

func (c *client) done() <-chan struct{} { return c.gone }

func (c *client) err() error {
	select {
	case <-c.gone:
		return c.cause
	default:
		return nil
	}
}

func (c *client) close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	if c.proc != nil {
		c.proc.kill()
	}
	c.conn.Close()
	<-c.gone
	return nil
}

// ask is askFiles for those who are sent one file at most.
func (c *client) ask(ctx context.Context, r request) (*os.File, error) {
	files, err := c.askFiles(ctx, r)
	if len(files) == 0 {
		return nil, err
	}
	seqpacket.CloseAll(files[1:])
	return files[0], err
}

// askFiles sends one request and waits for its answer. When ctx ends first, the
// inner is told, and what it still sends is closed.
func (c *client) askFiles(ctx context.Context, r request) ([]*os.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ch := make(chan answer, 1)
	c.mu.Lock()
	c.nextID++
	r.ID = c.nextID
	c.waiting[r.ID] = ch
	c.mu.Unlock()
	if err := c.conn.Send(r); err != nil {
		c.forget(r.ID, ch)
		return nil, c.goneOr(err)
	}
	select {
	case a := <-ch:
		return a.files, a.err
	case <-ctx.Done():
		c.forget(r.ID, ch)
		// Best effort: if it fails, the lab is gone and the request with it.
		_ = c.conn.Send(request{ID: r.ID, Op: opCancel})
		return nil, ctx.Err()
	case <-c.gone:
		c.forget(r.ID, ch)
		return nil, c.goneOr(net.ErrClosed)
	}
}

// forget gives up waiting. After it nothing is delivered to ch any more, and
// what was is closed.
func (c *client) forget(id uint64, ch chan answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
	select {
	case a := <-ch:
		seqpacket.CloseAll(a.files)
	default:
	}
}

// goneOr is why the lab is gone, if it is, and err otherwise.
func (c *client) goneOr(err error) error {
	if cause := c.err(); cause != nil {
		return cause
	}
	return err
}

func (c *client) call(ctx context.Context, r request) ([]byte, error) {
	f, err := c.ask(ctx, r)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("lab: %s: %w", r.Op, err)
	}
	if f == nil {
		return nil, nil
	}
	defer f.Close()
	data, err := readWhole(f)
	if err != nil {
		return nil, fmt.Errorf("lab: %s: %w", r.Op, err)
	}
	return data, nil
}

func (c *client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.dialTCP(ctx, network, addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: target{network, addr}, Err: err}
	}
	return conn, nil
}

func (c *client) dialTCP(ctx context.Context, network, addr string) (net.Conn, error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil, net.UnknownNetworkError(network)
	}
	f, err := c.ask(ctx, request{Op: opDial, Network: network, Addr: addr})
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, errors.New("the lab sent no connection")
	}
	defer f.Close()
	fc, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	tcp, ok := fc.(*net.TCPConn)
	if !ok {
		fc.Close()
		return nil, fmt.Errorf("the lab sent a %T", fc)
	}
	return c.adopt(tcp)
}

// labConn is a connection inside the lab. It is closed with the lab, because
// nobody is left who would tell its end that the peer is gone, and because the
// open socket alone would keep the dead network namespace.
type labConn struct {
	*net.TCPConn
	client *client
}

func (c *client) adopt(tcp *net.TCPConn) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		tcp.Close()
		return nil, net.ErrClosed
	}
	k := &labConn{tcp, c}
	c.conns[k] = struct{}{}
	return k, nil
}

func (k *labConn) Close() error {
	k.client.mu.Lock()
	delete(k.client.conns, k)
	k.client.mu.Unlock()
	return k.TCPConn.Close()
}

// target names what could not be dialled.
type target struct{ network, addr string }

func (t target) Network() string { return t.network }
func (t target) String() string  { return t.addr }

// readWhole reads an in-memory file from its beginning, wherever its writer stopped.
func readWhole(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
}
