//go:build unix

package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/lab/machine/sshd"
	"github.com/antipode-bench/antipode/probe/wire"
)

// limit bounds every wait of a test. It is longer than anything takes that comes
// at all.
const limit = 2 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What the fake agent does with a Serve of these ports; it echoes any other.
const (
	portDie = iota + 1
	portGarbage
	portUnknownID
	portLongLine
	portUntilCancel
	portFail
	portHang
)

// fakeAgent speaks wire as an agent does, and misbehaves on request.
func fakeAgent(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) sshd.Exit {
	say := func(v any) {
		line, _ := json.Marshal(v)
		stdout.Write(append(line, '\n'))
	}
	say(wire.Hello{Version: wire.Version, Build: "fake"})
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		var r wire.Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(stderr, err)
			return sshd.Exit{Status: 1}
		}
		if r.Alive != nil {
			say(wire.Response{ID: r.ID})
			continue
		}
		if r.Cancel != nil {
			say(wire.Response{ID: r.ID})
			say(wire.Response{ID: r.Cancel.ID, Error: "cancelled"})
			fmt.Fprintln(stderr, "told to cancel", r.Cancel.ID)
			continue
		}
		switch r.Serve.Port {
		case portDie:
			fmt.Fprintln(stderr, "panic: boom")
			return sshd.Exit{Status: 3}
		case portGarbage:
			fmt.Fprintln(stdout, "Segmentation fault")
		case portUnknownID:
			say(wire.Response{ID: r.ID + 1000})
		case portLongLine:
			fmt.Fprintln(stdout, strings.Repeat("x", wire.MaxLine+10))
		case portUntilCancel:
		case portFail:
			say(wire.Response{ID: r.ID, Error: "cut short", Serve: &wire.ServeResult{Port: 9}})
		case portHang:
			fmt.Fprintln(stderr, "hanging")
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
		default:
			say(wire.Response{ID: r.ID, Serve: &wire.ServeResult{Port: r.Serve.Port}})
		}
	}
	return sshd.Exit{}
}

// agentHandler answers every command with the fake agent.
func agentHandler(ctx context.Context, s *sshd.Session) sshd.Exit {
	return fakeAgent(ctx, s.Stdin, s.Stdout, s.Stderr)
}

// muteHandler says nothing, to any command, for as long as the connection lives.
func muteHandler(ctx context.Context, _ *sshd.Session) sshd.Exit {
	<-ctx.Done()
	return sshd.Exit{}
}

// sayHandler prints text and ends with status.
func sayHandler(text string, status uint32) sshd.Handler {
	return func(_ context.Context, s *sshd.Session) sshd.Exit {
		io.WriteString(s.Stdout, text)
		return sshd.Exit{Status: status}
	}
}

// server is an SSH server in this process, on loopback.
type server struct {
	addr          netip.AddrPort
	login         string // "" means tester
	user, hostKey KeyPair
	stop          func() // safe to call twice
}

func startServer(t *testing.T, h sshd.Handler) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	return serveOn(t, l, newPair(t), newPair(t), h)
}

func serveOn(t *testing.T, l net.Listener, user, host KeyPair, h sshd.Handler) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &sshd.Server{
		User: "tester", AuthorizedKeys: []ssh.PublicKey{user.Signer.PublicKey()},
		HostKey: host.Signer, Handler: h,
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop := func() { cancel(); <-ended; ended <- nil }
	t.Cleanup(stop)
	addr, _ := netip.ParseAddrPort(l.Addr().String())
	return &server{addr: addr, user: user, hostKey: host, stop: stop}
}

func (s *server) target() Target {
	return Target{Name: "m1", Addr: s.addr, User: cmp.Or(s.login, "tester"), HostKey: s.hostKey.AuthorizedKey}
}

func (s *server) connect(t *testing.T, o Options) *Conn {
	t.Helper()
	o.Key = s.user.Signer
	c, err := Connect(timeout(t, limit), s.target(), o)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// shell is a server whose commands run in a home of their own; path, if not
// empty, replaces the search path.
func shell(home, path string) sshd.Handler {
	if path == "" {
		path = os.Getenv("PATH")
	}
	return sshd.Shell{Dir: home, Env: []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + path}}.Run
}

// packed is a probe for this machine, whatever it is.
func packed(t *testing.T, content []byte) Probes {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	must(t, err)
	w.Write(content)
	must(t, w.Close())
	return Probes{arch(t): {Gzip: b.Bytes(), SHA256: sha256.Sum256(content)}}
}

func arch(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("uname", "-m").Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

func newPair(t *testing.T) KeyPair {
	t.Helper()
	p, err := NewKeyPair("test")
	must(t, err)
	return p
}

func timeout(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q; want %q in it", err, p)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
