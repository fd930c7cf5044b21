package remote

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/probe/wire"
)

// Agent is the control channel to the probe that runs on a machine. It lives
// in a session of the machine's connection and ends with it, at the latest.
// Safe for concurrent use.
type Agent struct {
	conn    *Conn
	session *ssh.Session
	stderr  *tail
	hello   wire.Hello
	out     chan []byte // lines to the agent, taken by write

	mu      sync.Mutex
	lastID  uint64
	pending map[uint64]chan wire.Response
	closing bool

	done chan struct{}
	err  error // set before done is closed
}

// StartAgent runs the pushed program as an agent and reads its Hello.
func (c *Conn) StartAgent(ctx context.Context, path string) (*Agent, error) {
	helloCtx, cancel := context.WithTimeoutCause(ctx, c.options.HelloTimeout,
		fmt.Errorf("it said nothing for %s", c.options.HelloTimeout))
	defer cancel()
	a, err := await(helloCtx, c, func() (*Agent, error) { return c.startAgent(helloCtx, path) })
	if err = c.believed(ctx, err); err != nil {
		return nil, fmt.Errorf("start the agent on %s: %w", c.target.Name, err)
	}
	return a, nil
}

func (c *Conn) startAgent(ctx context.Context, path string) (a *Agent, err error) {
	s, err := c.client.NewSession()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer func() {
		if !stop() && err == nil { // ctx has ended: nobody takes the agent any more
			a, err = nil, context.Cause(ctx)
		}
		if err != nil {
			s.Close()
		}
	}()
	a = &Agent{
		conn: c, session: s, stderr: &tail{},
		out: make(chan []byte, 16), pending: map[uint64]chan wire.Response{}, done: make(chan struct{}),
	}
	s.Stderr = a.stderr
	stdin, err1 := s.StdinPipe()
	stdout, err2 := s.StdoutPipe()
	if err := errors.Join(err1, err2, s.Start("exec "+quote(path)+" agent --linger "+c.options.Linger.String())); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 4096), wire.MaxLine+1) // and the line's end
	if a.hello, err = readHello(lines); err != nil {
		return nil, a.whyEnded(err)
	}
	if !c.adopt(a, func() { a.read(lines) }, func() { a.write(stdin) }, a.sayAlive) {
		return nil, errClosed
	}
	return a, nil
}

// adopt makes the agent one that Close ends, and starts its goroutines.
func (c *Conn) adopt(a *Agent, loops ...func()) bool {
	for _, loop := range loops {
		if !c.spawn(loop) {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agents = append(c.agents, a)
	return true
}

func readHello(lines *bufio.Scanner) (wire.Hello, error) {
	if !lines.Scan() {
		return wire.Hello{}, cmp.Or(lines.Err(), io.EOF)
	}
	var h wire.Hello
	if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
		return wire.Hello{}, garbage(lines.Bytes(), err)
	}
	if h.Version != wire.Version {
		return wire.Hello{}, fmt.Errorf("it speaks version %d, not %d", h.Version, wire.Version)
	}
	return h, nil
}

// Hello is what the agent said of itself and its machine.
func (a *Agent) Hello() wire.Hello { return a.hello }

// Done is closed when the agent has ended, for whatever reason.
func (a *Agent) Done() <-chan struct{} { return a.done }

// Err is why the agent has ended; nil before that.
func (a *Agent) Err() error {
	select {
	case <-a.done:
		return a.err
	default:
		return nil
	}
}

// Close has the agent end by closing its standard input, and by force if it
// does not within CloseTimeout. Safe to call twice.
func (a *Agent) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), a.conn.options.CloseTimeout)
	defer cancel()
	a.mu.Lock()
	first := !a.closing
	a.closing = true
	a.mu.Unlock()
	if first {
		select {
		case a.out <- nil: // write closes the input
		case <-a.done:
		case <-ctx.Done():
		}
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		a.conn.spawn(a.kill)
		a.end(fmt.Errorf("agent on %s: killed, it did not end by itself", a.conn.target.Name))
	}
	if errors.Is(a.err, errClosed) {
		return nil
	}
	return a.err
}

// kill ends the program by force; what is not reached ends with the connection.
func (a *Agent) kill() {
	a.session.Signal(ssh.SIGKILL)
	a.session.Close()
}

// write sends lines until the agent has ended; nil closes its input.
func (a *Agent) write(stdin io.WriteCloser) {
	defer stdin.Close()
	for {
		select {
		case line := <-a.out:
			if line == nil {
				return
			}
			if _, err := stdin.Write(line); err != nil {
				return // read sees why
			}
		case <-a.done:
			return
		}
	}
}

// read hands out responses until the agent's output ends, then says why.
func (a *Agent) read(lines *bufio.Scanner) {
	var err error
	for err == nil && lines.Scan() {
		err = a.deliver(lines.Bytes())
	}
	if err == nil {
		err = cmp.Or(lines.Err(), io.EOF)
	}
	a.end(fmt.Errorf("agent on %s: %w", a.conn.target.Name, a.whyEnded(err)))
}

// end fails everything that waits, the first time with the reason that counts.
func (a *Agent) end(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.done:
		return
	default:
	}
	if a.closing && errors.Is(err, errExited) {
		err = fmt.Errorf("agent on %s: %w", a.conn.target.Name, errClosed)
	}
	a.err = err
	close(a.done)
}
