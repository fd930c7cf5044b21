package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

var errClosed = errors.New("closed")

// Conn is the one connection to a machine. Safe for concurrent use.
type Conn struct {
	target  Target
	options Options
	raw     net.Conn
	client  *ssh.Client
	work    sync.WaitGroup // every goroutine of the connection; all end once raw is closed

	ended sync.Once
	done  chan struct{}
	err   error // set before done is closed

	mu     sync.Mutex
	agents []*Agent
	tuned  []*tuned
	closed bool // no more goroutines
}

func newConn(t Target, o Options, raw net.Conn, client *ssh.Client) *Conn {
	c := &Conn{target: t, options: o, raw: raw, client: client, done: make(chan struct{})}
	c.work.Go(func() { c.fail(fmt.Errorf("connection to %s lost: %w", t.Name, client.Wait())) })
	c.work.Go(c.keepAlive)
	return c
}

// Done is closed when the connection has ended, for whatever reason.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the connection has ended; nil before that.
func (c *Conn) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Close ends the agents, puts back what was tuned and removes what was pushed, as
// far as the machine still answers, and cuts the connection: within three times CloseTimeout. What
// must not stay there is then removed over another connection, within InsistTimeout. The error is
// about what may be left on the machine. Safe to call twice.
func (c *Conn) Close() error {
	c.mu.Lock()
	agents, settings := c.agents, c.tuned
	c.agents, c.tuned = nil, nil
	c.mu.Unlock()

	var closing sync.WaitGroup
	for _, a := range agents {
		closing.Go(func() { a.Close() })
	}
	closing.Wait()
	notPutBack, left := c.putBack(settings), c.remove()
	c.fail(fmt.Errorf("connection to %s: %w", c.target.Name, errClosed))
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.work.Wait()
	if left != nil && c.options.InsistTimeout > 0 {
		left = c.removeAnew(left)
	}
	return errors.Join(notPutBack, left)
}

// removeAnew tries once more to remove what was pushed, over a connection of its own.
func (c *Conn) removeAnew(why error) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.options.InsistTimeout)
	defer cancel()
	o := c.options
	o.InsistTimeout = 0
	again, err := Connect(ctx, c.target, o)
	if err != nil {
		return fmt.Errorf("%w; once more: %w", why, err)
	}
	return again.Close()
}

// Tidy removes what was pushed now rather than in Close: a program that runs
// does not need its file any more. What it fails to remove is left to Close.
func (c *Conn) Tidy() error { return c.believed(context.Background(), c.remove()) }

// remove deletes the folders that were pushed, and names those that it can't.
func (c *Conn) remove() error {
	folders := c.options.Leftovers.list()
	if len(folders) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.options.CloseTimeout)
	defer cancel()
	command := "exec /bin/sh -c " + quote(removeScript) + " remove"
	for _, f := range folders {
		command += " " + quote(f)
	}
	_, err := await(ctx, c, func() (struct{}, error) {
		s, err := c.client.NewSession()
		if err != nil {
			return struct{}{}, err
		}
		defer s.Close()
		return struct{}{}, s.Run(command)
	})
	if err != nil {
		return fmt.Errorf("remove %s from %s: %w", strings.Join(folders, ", "), c.target.Name, err)
	}
	c.options.Leftovers.gone(folders)
	return nil
}

// removeScript deletes the folders that it is given the names of, wherever
// pushScript may have made them.
const removeScript = `for name; do rm -rf -- "$HOME/$name" "${TMPDIR:-/tmp}/$name" "/var/tmp/$name" || exit; done`

// spawn starts a goroutine of the connection; false: it is closed.
func (c *Conn) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Go(f)
	}
	return !c.closed
}

// fail ends the connection, the first time with the reason that counts.
func (c *Conn) fail(err error) {
	c.ended.Do(func() {
		c.err = err
		close(c.done)
		c.raw.Close()
	})
}

// keepAlive notices a machine that is gone without a word. It ends with the
// connection.
func (c *Conn) keepAlive() {
	tick := time.NewTicker(c.options.KeepAliveInterval)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		if !c.answers(context.Background()) {
			return
		}
	}
}

// answers finds out whether the machine is still there, and ends the connection
// if it is not. Nobody wants to know once ctx has ended.
func (c *Conn) answers(ctx context.Context) bool {
	err := c.ping(ctx)
	if err != nil && ctx.Err() == nil {
		c.fail(fmt.Errorf("connection to %s lost: %w", c.target.Name, err))
	}
	return err == nil
}

// believed is err of something that the connection carried, or why the
// connection is lost: whoever hears err and finds Done open then knows that the
// machine is there and meant it. Sessions break before the connection is known to
// be lost, and what a machine that vanished does not say can time out before.
func (c *Conn) believed(ctx context.Context, err error) error {
	if err == nil || c.answers(ctx) || ctx.Err() != nil {
		return err
	}
	return c.Err()
}

// ping waits for an answer to one keepalive; any answer will do.
func (c *Conn) ping(ctx context.Context) error {
	answered := make(chan error, 1)
	c.spawn(func() {
		_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
		answered <- err
	})
	late := time.NewTimer(c.options.KeepAliveTimeout)
	defer late.Stop()
	select {
	case err := <-answered:
		return err
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late.C:
		return fmt.Errorf("no answer to a keepalive for %s", c.options.KeepAliveTimeout)
	}
}

// await calls f, which may block as long as the connection lives, and returns
// early when ctx or the connection ends. f is left to itself then: what it
// returns is dropped.
func await[T any](ctx context.Context, c *Conn, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	var zero T
	if !c.spawn(func() {
		v, err := f()
		results <- result{v, err}
	}) {
		return zero, c.err
	}
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		return zero, context.Cause(ctx)
	case <-c.done:
		return zero, c.err
	}
}

// quote makes s one word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
