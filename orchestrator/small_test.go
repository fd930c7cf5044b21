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

	"github.com/antipode-bench/antipode/providers"
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
	refused := errors.New("no way")
	var dialled string
	r, err := NewSSH("r1", nil, func(_ context.Context, _, addr string) (net.Conn, error) {
		dialled = addr
		return nil, refused
	})
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
	again, err := RestoreSSH(secrets, "r1", nil, nil)
	if err != nil || again.AuthorizedKey() != r.AuthorizedKey() {
		t.Fatalf("RestoreSSH: %v, or another key", err)
	}
	if p, key, err := again.HostKey("aws:a"); err != nil || string(p) != string(private) || key != public {
		t.Errorf("restored HostKey = %q, %v; want %q", key, err, public)
	}
}
