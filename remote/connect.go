package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
)

// Connect logs in. A machine that boots refuses, drops or resets connections
// and rejects its keys for a while, so everything but a wrong host key is tried
// again, with growing pauses, until ctx ends. The error then says what was last seen.
// Of a Booted machine a refused log-in is final too.
func Connect(ctx context.Context, t Target, o Options) (*Conn, error) {
	o = o.withDefaults()
	hostKeys, err := check(t, o)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", t.Name, err)
	}
	begin, pause := time.Now(), o.RetryMin
	last := errors.New("nothing yet")
	for attempts := 0; ; attempts++ {
		conn, err := tryConnect(ctx, t, o, hostKeys)
		if err == nil {
			return conn, nil
		}
		if final(err) {
			return nil, err
		}
		if !over(ctx) { // an attempt cut short by ctx tells nothing new
			last = err
		}
		if !sleep(ctx, jitter(pause)) {
			return nil, fmt.Errorf("reach %s by SSH (%s@%s): gave up after %s, %d attempts failed, last seen: %w: %w",
				t.Name, t.User, t.Addr, time.Since(begin).Round(100*time.Millisecond), attempts, last, context.Cause(ctx))
		}
		pause = min(2*pause, o.RetryMax)
	}
}

// tryConnect is one attempt.
func tryConnect(ctx context.Context, t Target, o Options, hostKeys []ssh.PublicKey) (*Conn, error) {
	dialCtx, cancel := context.WithTimeoutCause(ctx, o.DialTimeout,
		fmt.Errorf("no connection within %s", o.DialTimeout))
	defer cancel()
	raw, err := o.Dial(dialCtx, "tcp", t.Addr.String())
	if err != nil {
		return nil, because(dialCtx, err)
	}
	client, err := handshake(ctx, raw, t, o, hostKeys)
	if err != nil {
		raw.Close()
		return nil, err
	}
	return newConn(t, o, raw, client), nil
}

// handshake proves both sides to each other over raw, within HandshakeTimeout.
func handshake(ctx context.Context, raw net.Conn, t Target, o Options, hostKeys []ssh.PublicKey) (*ssh.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.HandshakeTimeout,
		fmt.Errorf("connected, but no SSH log-in within %s", o.HandshakeTimeout))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()

	pin := &pin{target: t, want: hostKeys}
	conn, channels, requests, err := ssh.NewClientConn(raw, t.Addr.String(), &ssh.ClientConfig{
		User:              t.User,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(o.signers()...)},
		HostKeyCallback:   pin.check,
		HostKeyAlgorithms: algorithms(hostKeys),
	})
	if wrong := pin.wrong.Load(); wrong != nil {
		return nil, wrong
	}
	if err != nil && o.Booted && ctx.Err() == nil && refused(err, pin.right.Load()) {
		return nil, &LoginError{Name: t.Name, User: t.User, Addr: t.Addr.String(), Err: err}
	}
	if err != nil {
		return nil, because(ctx, err)
	}
	if !stop() { // too late: raw is closed, or about to be
		conn.Close()
		return nil, context.Cause(ctx)
	}
	return ssh.NewClient(conn, channels, requests), nil
}

// because is why an operation under ctx failed: ctx's cause if it has ended,
// for then err is only about a closed connection.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// over reports whether ctx has ended, or is about to: a dialler keeps to its
// deadline by itself, and may be the first to say so.
func over(ctx context.Context) bool {
	by, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(by)
}

// sleep waits for d; false means that ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// jitter keeps dozens of machines from being tried in step.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d)
}
