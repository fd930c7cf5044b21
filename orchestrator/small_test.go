package orchestrator

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

func TestNewRunID(t *testing.T) {
	at := time.Date(2026, 11, 30, 18, 22, 33, 0, time.FixedZone("CET", 3600))
	got, err := NewRunID(at, bytes.NewReader([]byte{0, 1, 30, 255}))
	if want := "20261130t172233z-ab89"; got != want || err != nil {
		t.Errorf("NewRunID = %q, %v; want %q", got, err, want)
	}
	later, err := NewRunID(at.Add(time.Second), rand.Reader)
	if err != nil || later <= got || providers.CheckRunID(later) != nil {
		t.Errorf("NewRunID = %q, %v; want one that sorts after %q", later, err, got)
	}
	if got, err := NewRunID(at, strings.NewReader("abc")); err == nil {
		t.Errorf("NewRunID without enough chance = %q, want an error", got)
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		" two\n\tlines ":         "two lines",
		strings.Repeat("é", 300): strings.Repeat("é", 239) + "…",
	} {
		if got := line(in); got != want {
			t.Errorf("line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestExpected(t *testing.T) {
	of := func(kind providers.Kind) error {
		return &providers.Error{Op: "List", Kind: kind, Err: errors.New("no")}
	}
	skip, auth := of(providers.Skip), of(providers.Auth)
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":         {nil, true},
		"a region":        {errors.Join(fmt.Errorf("%w: %w", errors.New("blind"), errors.Join(skip, skip))), true},
		"regions":         {errors.Join(skip, skip), true},
		"credentials":     {errors.Join(auth), false},
		"one of each":     {errors.Join(skip, auth), false},
		"another's error": {errors.New("no route"), false},
	} {
		if got := expected(c.err); got != c.want {
			t.Errorf("%s: expected(%v) = %v", name, c.err, got)
		}
	}
}

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		err := within(t.Context(), time.Minute, wait)
		if want := "no success within 1m0s: context deadline exceeded"; err == nil || err.Error() != want {
			t.Errorf("within = %v, want %s", err, want)
		}
		if err := within(t.Context(), time.Minute, func(context.Context) error { return nil }); err != nil {
			t.Errorf("within = %v, want nil", err)
		}
	})
}

// TestSSH looks at what is asked of the network and of a provider.
func TestNewSSH(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("no way")
		var dialled string
		r, err := NewSSH(SSH{RunID: "r1", Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			dialled = addr
			return nil, refused
		}})
		if err != nil {
			t.Fatal(err)
		}
		private, public, err := r.HostKey("aws:a")
		if _, other, _ := r.HostKey("aws:b"); err != nil || len(private) == 0 || public == other || public == r.AuthorizedKey() {
			t.Errorf("HostKey = %q, %v; want a key of its own for each machine", public, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		m := providers.Machine{ID: "i-1", Public: netip.MustParseAddr("198.18.0.1"), User: "user", HostKey: public}
		if _, err := r.Connect(ctx, m); !errors.Is(err, refused) || dialled != "198.18.0.1:22" {
			t.Errorf("Connect = %v, dialled %q", err, dialled)
		}
		secrets, err := r.Secrets()
		if err != nil {
			t.Fatal(err)
		}
		again, err := RestoreSSH(secrets, SSH{RunID: "r1"})
		if err != nil || again.AuthorizedKey() != r.AuthorizedKey() {
			t.Fatalf("RestoreSSH: %v, or another key", err)
		}
		if p, key, err := again.HostKey("aws:a"); err != nil || string(p) != string(private) || key != public {
			t.Errorf("restored HostKey = %q, %v; want %q", key, err, public)
		}
	})
}

// TestNewSSHLent: a lent machine is reached at its own port with its own keys.
func TestNewSSHLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused, keyless := errors.New("no way"), errors.New("no keys")
		var dialled, asked string
		r, err := NewSSH(SSH{RunID: "r1", Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			dialled = addr
			return nil, refused
		}, Lent: func(m providers.Machine) ([]ssh.Signer, error) {
			asked = m.Region
			return nil, keyless
		}})
		if err != nil {
			t.Fatal(err)
		}
		m := providers.Machine{Region: "attic", Public: netip.MustParseAddr("198.18.0.1"), SSHPort: 2222, User: "user", Lent: true}
		if _, err := r.Connect(t.Context(), m); !errors.Is(err, keyless) || asked != "attic" || dialled != "" {
			t.Errorf("Connect = %v, asked for the keys of %q, dialled %q", err, asked, dialled)
		}
		r.(*sshRemote).Lent = nil
		if _, err := r.Connect(t.Context(), m); err == nil {
			t.Error("Connect to a lent machine without a way to log in succeeded")
		}
		pair, err := remote.NewKeyPair("user")
		if err != nil {
			t.Fatal(err)
		}
		r.(*sshRemote).Lent = func(providers.Machine) ([]ssh.Signer, error) { return []ssh.Signer{pair.Signer}, nil }
		m.HostKey = pair.AuthorizedKey
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := r.Connect(ctx, m); !errors.Is(err, refused) || dialled != "198.18.0.1:2222" {
			t.Errorf("Connect = %v, dialled %q", err, dialled)
		}
	})
}

// TestLinger: by default agents wait as long as they do by themselves.
func TestLinger(t *testing.T) {
	if got := (Limits{}).Linger(); got != wire.DefaultLinger {
		t.Errorf("Linger = %v, want %v", got, wire.DefaultLinger)
	}
	if got := (Limits{Reconnect: 3 * time.Minute}).Linger(); got != 4*time.Minute {
		t.Errorf("Linger = %v for three minutes, want four", got)
	}
}

// TestExplain: only of a lent machine that was never reached do we say what to
// look at; the rules of all others are our own.
func TestExplain(t *testing.T) {
	failed := errors.New("i/o timeout")
	const hint = "i/o timeout; is port 9000 (TCP and UDP) of hosts:attic open to 198.18.0.1?"
	for name, tt := range map[string]struct {
		way  way
		lent bool
		want string
	}{
		"never reached":   {way{err: failed}, true, hint},
		"no answer":       {way{err: failed, rtt: &wire.RTTResult{Probes: 5}}, true, hint},
		"reached":         {way{err: failed, rtt: &wire.RTTResult{Probes: 5, Received: 1}}, true, "i/o timeout"},
		"in the middle":   {way{err: failed, throughput: &wire.ThroughputResult{}}, true, "i/o timeout"},
		"lost":            {way{err: &awayError{&guest{region: "hosts:attic"}, failed}}, true, "hosts:attic: i/o timeout"},
		"a cloud's":       {way{err: failed}, false, "i/o timeout"},
		"nothing's wrong": {way{}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.way.direction = direction{"aws:us-east-1", "hosts:attic"}
			tt.way.explain(map[string]*guest{
				"aws:us-east-1": {made: providers.Machine{Public: netip.MustParseAddr("198.18.0.1")}},
				"hosts:attic":   {port: 9000, made: providers.Machine{Lent: tt.lent}},
			}, Choice{})
			if got := tt.way.err; got == nil && tt.want != "" || got != nil && got.Error() != tt.want {
				t.Errorf("err = %v, want %s", got, tt.want)
			}
		})
	}
}
