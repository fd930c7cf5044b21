package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/probe/wire"
)

// DialFunc opens a connection, as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// Target is a machine.
type Target struct {
	Name    string // how errors call it
	Addr    netip.AddrPort
	User    string
	HostKey string // authorized_keys lines, one per key; no other key is accepted
}

// Options of a connection. Key or Keys are required; zero durations mean the
// defaults.
type Options struct {
	Key    ssh.Signer
	Keys   []ssh.Signer // where several may fit, offered in this order
	Dial   DialFunc     // nil: a net.Dialer
	Booted bool         // the machine has been up for long: a refused log-in is final

	DialTimeout      time.Duration // one attempt to open TCP; 10 s
	HandshakeTimeout time.Duration // one SSH handshake with log-in; 20 s
	RetryMin         time.Duration // first pause between attempts; 200 ms
	RetryMax         time.Duration // longest pause between attempts; 3 s

	// A keepalive is sent every KeepAliveInterval (5 s); an answer that takes
	// longer than KeepAliveTimeout (15 s) means that the machine is gone.
	KeepAliveInterval time.Duration
	KeepAliveTimeout  time.Duration

	// Linger is how long an agent lives on that hears nothing from us (2 min); we
	// say that we are there every AliveInterval (15 s, and at most an eighth of Linger).
	Linger        time.Duration
	AliveInterval time.Duration

	HelloTimeout time.Duration // from the agent's start to its first line; 20 s
	CloseTimeout time.Duration // for an orderly end, of a Conn or an Agent; 5 s

	// Leftovers are what earlier connections to the machine may have left there,
	// and this one is to remove; nil: nothing. InsistTimeout is how long Close tries to
	// remove what was pushed over a new connection, where its own is lost; 0: not at all.
	Leftovers     *Leftovers
	InsistTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	o.DialTimeout = cmp.Or(o.DialTimeout, 10*time.Second)
	o.HandshakeTimeout = cmp.Or(o.HandshakeTimeout, 20*time.Second)
	o.RetryMin = cmp.Or(o.RetryMin, 200*time.Millisecond)
	o.RetryMax = cmp.Or(o.RetryMax, 3*time.Second)
	o.KeepAliveInterval = cmp.Or(o.KeepAliveInterval, 5*time.Second)
	o.KeepAliveTimeout = cmp.Or(o.KeepAliveTimeout, 15*time.Second)
	o.Linger = cmp.Or(o.Linger, wire.DefaultLinger)
	o.AliveInterval = cmp.Or(o.AliveInterval, min(wire.AliveInterval, o.Linger/8))
	o.HelloTimeout = cmp.Or(o.HelloTimeout, 20*time.Second)
	o.CloseTimeout = cmp.Or(o.CloseTimeout, 5*time.Second)
	if o.Leftovers == nil {
		o.Leftovers = &Leftovers{}
	}
	return o
}

// check finds what no amount of waiting can mend. An empty key, say, would
// otherwise look like a machine that never finishes its boot.
func check(t Target, o Options) (hostKeys []ssh.PublicKey, err error) {
	switch {
	case o.Key == nil && len(o.Keys) == 0:
		return nil, errors.New("no key to log in with")
	case !t.Addr.IsValid() || t.Addr.Port() == 0:
		return nil, fmt.Errorf("no address (%s)", t.Addr)
	case t.User == "":
		return nil, errors.New("no user to log in as")
	case t.HostKey == "":
		return nil, errors.New("no host key to expect")
	}
	for rest := []byte(t.HostKey); len(bytes.TrimSpace(rest)) > 0; {
		var key ssh.PublicKey
		key, _, _, rest, err = ssh.ParseAuthorizedKey(rest)
		if err != nil {
			return nil, fmt.Errorf("host key to expect: %w", err)
		}
		hostKeys = append(hostKeys, key)
	}
	return hostKeys, nil
}

func (o Options) signers() []ssh.Signer {
	if o.Key == nil {
		return o.Keys
	}
	return append([]ssh.Signer{o.Key}, o.Keys...)
}
