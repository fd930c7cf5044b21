//go:build unix

package sshd

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// limit bounds every wait of a test.
const limit = 2 * time.Minute

func newKey(t *testing.T) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	key, err := ssh.NewSignerFromKey(private)
	must(t, err)
	return key
}

// serve starts a server and returns a client of it. The end of ctx must end both.
func serve(t *testing.T, ctx context.Context, h Handler) *ssh.Client {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	user, host := newKey(t), newKey(t)
	s := &Server{User: "u", AuthorizedKeys: []ssh.PublicKey{user.PublicKey()}, HostKey: host, Handler: h}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			must(t, err)
		case <-time.After(limit):
			t.Error("Serve did not end with its context")
		}
	})
	client, err := ssh.Dial("tcp", l.Addr().String(), &ssh.ClientConfig{
		User: "u", Auth: []ssh.AuthMethod{ssh.PublicKeys(user)},
		HostKeyCallback: ssh.FixedHostKey(host.PublicKey()), Timeout: limit,
	})
	must(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

func TestEndOfServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := serve(t, ctx, func(ctx context.Context, _ *Session) Exit { <-ctx.Done(); return Exit{} })
	s, err := client.NewSession()
	must(t, err)
	must(t, s.Start("wait"))
	cancel()
	if err := s.Wait(); err == nil {
		t.Error("the session ended well; want it cut")
	}
}

func TestHandlerSeesTheEndOfItsSession(t *testing.T) {
	ended := make(chan struct{})
	client := serve(t, t.Context(), func(ctx context.Context, _ *Session) Exit {
		<-ctx.Done()
		close(ended)
		return Exit{}
	})
	s, err := client.NewSession()
	must(t, err)
	must(t, s.Start("wait"))
	s.Close()
	select {
	case <-ended:
	case <-time.After(limit):
		t.Error("the handler was not told")
	}
}

func TestRefusals(t *testing.T) {
	client := serve(t, t.Context(), func(context.Context, *Session) Exit { return Exit{Signal: "TERM"} })
	if conn, err := client.Dial("tcp", "127.0.0.1:1"); err == nil {
		conn.Close()
		t.Error("a forwarding was granted")
	}
	s, err := client.NewSession()
	must(t, err)
	if err := s.RequestPty("xterm", 24, 80, nil); err == nil {
		t.Error("a terminal was granted")
	}
	var exit *ssh.ExitError
	if err := s.Run("x"); !errors.As(err, &exit) || exit.Signal() != "TERM" {
		t.Errorf("ended with %v; want signal TERM", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
