//go:build unix

package remote

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func TestNewKeyPair(t *testing.T) {
	p := newPair(t)
	key, comment, _, rest, err := ssh.ParseAuthorizedKey([]byte(p.AuthorizedKey))
	if err != nil || comment != "test" || len(rest) > 0 || key.Type() != ssh.KeyAlgoED25519 {
		t.Errorf("authorized key %q: %v, comment %q, rest %q", p.AuthorizedKey, err, comment, rest)
	}
	private, err := ssh.ParsePrivateKey(p.PEM)
	if err != nil || string(private.PublicKey().Marshal()) != string(key.Marshal()) {
		t.Errorf("private half: %v, or not of the public one", err)
	}
	if _, err := NewKeyPair("two\nlines"); err == nil {
		t.Error("a comment of two lines was accepted")
	}
}

func TestConnectChecksFirst(t *testing.T) {
	good := Target{Name: "m1", Addr: netip.MustParseAddrPort("127.0.0.1:1"), User: "u", HostKey: newPair(t).AuthorizedKey}
	for name, c := range map[string]struct {
		change func(*Target, *Options)
		want   string
	}{
		"NoKey":      {func(_ *Target, o *Options) { o.Key = nil }, "no key"},
		"NoAddress":  {func(t *Target, _ *Options) { t.Addr = netip.AddrPort{} }, "no address"},
		"NoUser":     {func(t *Target, _ *Options) { t.User = "" }, "no user"},
		"NoHostKey":  {func(t *Target, _ *Options) { t.HostKey = "" }, "no host key"},
		"BadHostKey": {func(t *Target, _ *Options) { t.HostKey = "ssh-ed25519 !" }, "host key"},
	} {
		t.Run(name, func(t *testing.T) {
			target, options := good, Options{Key: newPair(t).Signer}
			c.change(&target, &options)
			_, err := Connect(timeout(t, limit), target, options)
			wantError(t, err, "m1", c.want)
		})
	}
}

func TestWrongHostKeyIsFinal(t *testing.T) {
	s := startServer(t, agentHandler)
	target := s.target()
	target.HostKey = newPair(t).AuthorizedKey
	begin := time.Now()
	_, err := Connect(timeout(t, limit), target, Options{Key: s.user.Signer, RetryMin: time.Minute})
	if wrong := (*HostKeyError)(nil); !errors.As(err, &wrong) || wrong.Name != "m1" {
		t.Errorf("error = %v; want a HostKeyError of m1", err)
	}
	if took := time.Since(begin); took > limit/2 {
		t.Errorf("it took %s to notice", took)
	}
}

// TestBooted: a machine that has been up for long is asked once.
func TestBooted(t *testing.T) {
	s := startServer(t, agentHandler)
	target := s.target()
	target.HostKey = newPair(t).AuthorizedKey + "\n" + s.hostKey.AuthorizedKey + "\n"
	booted := Options{Booted: true, RetryMin: time.Minute, Keys: []ssh.Signer{newPair(t).Signer}}

	_, err := Connect(timeout(t, limit), target, booted)
	if refused, ok := errors.AsType[*LoginError](err); !ok || refused.User != "tester" {
		t.Errorf("error = %v; want a LoginError of tester", err)
	}
	booted.Keys = append(booted.Keys, s.user.Signer)
	c, err := Connect(timeout(t, limit), target, booted)
	must(t, err)
	must(t, c.Close())

	ecdsaKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	other, err := ssh.NewPublicKey(ecdsaKey.Public())
	must(t, err)
	target.HostKey = string(ssh.MarshalAuthorizedKey(other))
	_, err = Connect(timeout(t, limit), target, booted)
	wantError(t, err, "m1", "host key")
	if !final(err) {
		t.Errorf("error %v is not final", err)
	}
}

// givesUp connects to what does not let it in, and wants an error with the parts.
// A busy computer comes to nothing in a short time, so it is given more, in steps.
func givesUp(t *testing.T, target Target, o Options, parts ...string) error {
	t.Helper()
	for within := 200 * time.Millisecond; ; within *= 4 {
		_, err := Connect(timeout(t, within), target, o)
		if lacks := slices.ContainsFunc(parts, func(p string) bool { return err == nil || !strings.Contains(err.Error(), p) }); lacks && within < limit {
			t.Logf("within %v: %v", within, err)
			continue
		}
		wantError(t, err, parts...)
		return err
	}
}

func TestGivesUpAndSaysWhy(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	s := startServer(t, agentHandler)
	stranger := newPair(t).Signer
	quick := Options{Key: s.user.Signer, RetryMin: 10 * time.Millisecond, HandshakeTimeout: 100 * time.Millisecond}

	t.Run("Silent", func(t *testing.T) {
		target := s.target()
		target.Addr = netip.MustParseAddrPort(silent.Addr().String())
		givesUp(t, target, quick, "m1", "gave up", "no SSH log-in within 100ms")
	})
	t.Run("Refused", func(t *testing.T) {
		gone, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		gone.Close()
		target := s.target()
		target.Addr = netip.MustParseAddrPort(gone.Addr().String())
		if err := givesUp(t, target, quick, "m1", "refused"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v is no time-out", err)
		}
	})
	t.Run("WrongKey", func(t *testing.T) {
		o := quick
		o.Key, o.HandshakeTimeout = stranger, 0
		givesUp(t, s.target(), o, "m1", "unable to authenticate")
	})
	t.Run("Cancelled", func(t *testing.T) {
		target := s.target()
		target.Addr = netip.MustParseAddrPort(silent.Addr().String())
		ctx, cancel := context.WithCancelCause(context.Background())
		enough := errors.New("enough of it")
		time.AfterFunc(50*time.Millisecond, func() { cancel(enough) })
		_, err := Connect(ctx, target, Options{Key: s.user.Signer})
		if !errors.Is(err, enough) {
			t.Errorf("error = %v; want the cause", err)
		}
	})
}

// TestBoot follows a machine that drops, refuses, resets and does not know the
// key yet, before it is ready.
func TestBoot(t *testing.T) {
	s := startServer(t, agentHandler)
	early := startServer(t, agentHandler) // same host key, other users
	early.stop()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	early = serveOn(t, l, newPair(t), s.hostKey, agentHandler)
	dialer, attempts := new(net.Dialer), 0
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		attempts++
		switch attempts {
		case 1: // dropped
			<-ctx.Done()
			return nil, ctx.Err()
		case 2:
			return nil, errors.New("connection refused")
		case 3: // reset
			ours, theirs := net.Pipe()
			theirs.Close()
			return ours, nil
		case 4: // cloud-init has not run yet
			return dialer.Dial(network, early.addr.String()) // it may take longer than DialTimeout
		}
		return dialer.Dial(network, addr)
	}
	s.connect(t, Options{Dial: dial, DialTimeout: 20 * time.Millisecond, RetryMin: time.Millisecond})
	if attempts != 5 {
		t.Errorf("%d attempts; want 5", attempts)
	}
}

func TestLostConnection(t *testing.T) {
	s := startServer(t, agentHandler)
	c := s.connect(t, Options{})
	if err := c.Err(); err != nil {
		t.Errorf("Err = %v before the end", err)
	}
	s.stop()
	select {
	case <-c.Done():
		wantError(t, c.Err(), "m1", "lost")
	case <-time.After(limit):
		t.Error("nobody noticed")
	}
	must(t, c.Close())
	must(t, c.Close())
}

// deaf is a connection whose other side has vanished after the log-in: writes
// go nowhere and nothing comes.
type deaf struct {
	net.Conn
	gone chan struct{}
}

func (d *deaf) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	select {
	case <-d.gone:
		if err == nil {
			return d.Read(p) // drop it
		}
	default:
	}
	return n, err
}

func (d *deaf) Write(p []byte) (int, error) {
	select {
	case <-d.gone:
		return len(p), nil
	default:
		return d.Conn.Write(p)
	}
}

// deafDial is the Dial of connections whose other side vanishes when gone is closed.
func deafDial(gone chan struct{}) DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &deaf{conn, gone}, err
	}
}

func TestVanishedMachine(t *testing.T) {
	s := startServer(t, agentHandler)
	for patience := 200 * time.Millisecond; ; patience *= 4 {
		gone := make(chan struct{})
		c := s.connect(t, Options{
			Dial: deafDial(gone), KeepAliveInterval: 20 * time.Millisecond, KeepAliveTimeout: patience,
		})
		a, err := c.StartAgent(timeout(t, limit), "/agent")
		if err != nil && patience < limit { // this computer did not answer either
			t.Logf("within %v: %v", patience, err)
			continue
		}
		must(t, err)
		close(gone)
		_, err = a.Call(timeout(t, limit), serve(portUntilCancel))
		wantError(t, err, "m1", fmt.Sprintf("no answer to a keepalive for %v", patience))
		<-c.Done()
		return
	}
}

// TestLostOnTheWay loses the connection between the log-in and the agent's first
// word: whoever hears that a step failed knows at once whether this is why.
func TestLostOnTheWay(t *testing.T) {
	for name, step := range map[string]func(*Conn) error{
		"Push":       func(c *Conn) error { _, err := c.Push(timeout(t, limit), Probes{}); return err },
		"StartAgent": func(c *Conn) error { _, err := c.StartAgent(timeout(t, limit), "/agent"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			c := startServer(t, muteHandler).connect(t, Options{})
			time.AfterFunc(10*time.Millisecond, func() { c.raw.Close() })
			wantError(t, step(c), "m1", "lost")
			wantOver(t, c, true)
		})
	}
}

// TestVanishedAtStart: a machine that does not say Hello may be there or not.
func TestVanishedAtStart(t *testing.T) {
	gone := make(chan struct{})
	c := startServer(t, muteHandler).connect(t, Options{
		Dial: deafDial(gone), KeepAliveInterval: 2 * limit, KeepAliveTimeout: 5 * time.Second, HelloTimeout: 50 * time.Millisecond,
	})
	_, err := c.StartAgent(timeout(t, limit), "/agent")
	wantError(t, err, "m1", "said nothing")
	wantOver(t, c, false)
	close(gone)
	_, err = c.StartAgent(timeout(t, limit), "/agent")
	wantError(t, err, "m1", "no answer to a keepalive")
	wantOver(t, c, true)
}

func wantOver(t *testing.T, c *Conn, want bool) {
	t.Helper()
	if over := c.Err() != nil; over != want {
		t.Errorf("the connection is known to be lost: %v; want %v", over, want)
	}
}
