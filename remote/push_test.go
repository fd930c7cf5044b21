//go:build unix

package remote

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/lab/machine/sshd"
)

// noise is content that does not compress: it needs more than one SSH window.
func noise(size int) []byte {
	b := make([]byte, size)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func TestPush(t *testing.T) {
	home := t.TempDir()
	c := startServer(t, shell(home, "")).connect(t, Options{})
	content := noise(3 << 20)
	file, err := c.Push(timeout(t, limit), packed(t, content))
	must(t, err)
	got, err := os.ReadFile(file)
	if err != nil || string(got) != string(content) {
		t.Errorf("pushed file: %v, %d bytes; want the %d given", err, len(got), len(content))
	}
	for name, want := range map[string]os.FileMode{file: 0o700, filepath.Dir(file): 0o700} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("mode of %s: %v, %v; want %o", name, info.Mode(), err, want)
		}
	}
	again, err := c.Push(timeout(t, limit), packed(t, content))
	if err != nil || again == file {
		t.Errorf("second push = %s, %v; want another folder than %s", again, err, file)
	}
	must(t, c.Close())
	wantEmpty(t, home)
}

func TestPushFails(t *testing.T) {
	tools := t.TempDir() // everything but gzip
	for _, name := range []string{"uname", "mkdir", "sha256sum", "chmod", "rm"} {
		file, err := exec.LookPath(name)
		must(t, err)
		must(t, os.Symlink(file, filepath.Join(tools, name)))
	}
	good := packed(t, []byte("content"))
	for name, c := range map[string]struct {
		path   string
		probes func(Probes)
		want   string
	}{
		"Architecture": {want: "no probe for this architecture: it is", probes: func(p Probes) { delete(p, arch(t)); p["s390x"] = Binary{} }},
		"Checksum":     {want: "checksum mismatch", probes: func(p Probes) { p[arch(t)] = Binary{Gzip: good[arch(t)].Gzip} }},
		"CutShort":     {want: "could not be unpacked", probes: func(p Probes) { b := p[arch(t)]; b.Gzip = b.Gzip[:20]; p[arch(t)] = b }},
		"NoGzip":       {want: "the machine has no gzip", probes: func(Probes) {}, path: tools},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			conn := startServer(t, shell(home, c.path)).connect(t, Options{})
			probes := packed(t, []byte("content"))
			c.probes(probes)
			_, err := conn.Push(timeout(t, limit), probes)
			wantError(t, err, "m1", c.want)
			wantEmpty(t, home)
		})
	}
}

func TestPushDiskFull(t *testing.T) {
	home := t.TempDir()
	limited := func(ctx context.Context, s *sshd.Session) sshd.Exit {
		s.Command = "ulimit -f 16; trap '' XFSZ; " + s.Command // a small disk
		return shell(home, "")(ctx, s)
	}
	conn := startServer(t, limited).connect(t, Options{})
	_, err := conn.Push(timeout(t, limit), packed(t, noise(1<<20)))
	wantError(t, err, "m1", "File too large", "could not be unpacked")
	wantEmpty(t, home)
}

// TestPushInterrupted stops in the middle, by context and by a cut connection.
func TestPushInterrupted(t *testing.T) {
	for name, interrupt := range map[string]func(c *Conn, cancel func()){
		"Cancelled": func(_ *Conn, cancel func()) { cancel() },
		"Cut":       func(c *Conn, _ func()) { c.raw.(*gate).Conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			g := &gate{left: 300 << 10, full: make(chan struct{})}
			dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, addr)
				g.Conn = conn
				return g, err
			}
			c := startServer(t, shell(home, "")).connect(t, Options{Dial: dial, CloseTimeout: 500 * time.Millisecond})
			ctx, cancel := context.WithCancel(timeout(t, limit))
			defer cancel()
			time.AfterFunc(0, func() { <-g.full; interrupt(c, cancel) })
			_, err := c.Push(ctx, packed(t, noise(4<<20)))
			wantError(t, err, "push the probe to m1")
			c.Close()
			for deadline := time.Now().Add(limit); !isEmpty(home); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the machine kept the torso")
				}
			}
		})
	}
}

// TestPushLeftBehind loses the connection once the probe is there, before anybody
// is told its path and afterwards: it is removed over another connection.
func TestPushLeftBehind(t *testing.T) {
	for name, told := range map[string]bool{"NotTold": false, "Told": true} {
		t.Run(name, func(t *testing.T) {
			home, done := t.TempDir(), make(chan struct{})
			var once sync.Once
			c := startServer(t, func(ctx context.Context, s *sshd.Session) sshd.Exit {
				if !told {
					s.Stdout = &firstWrite{Writer: s.Stdout}
				}
				defer once.Do(func() { close(done) })
				return shell(home, "")(ctx, s)
			}).connect(t, Options{InsistTimeout: limit})
			if !told {
				time.AfterFunc(0, func() { <-done; c.raw.Close() })
			}
			_, err := c.Push(timeout(t, limit), packed(t, []byte("content")))
			if told != (err == nil) || isEmpty(home) {
				t.Errorf("Push = %v, left nothing: %v", err, isEmpty(home))
			}
			c.raw.Close()
			must(t, c.Close())
			wantEmpty(t, home)
			must(t, c.Close())
		})
	}
}

// firstWrite lets one write through, and swallows the others.
type firstWrite struct {
	io.Writer
	over bool
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.over {
		return len(p), nil
	}
	w.over = true
	return w.Writer.Write(p)
}

// TestPushLeftToTheNext: what one connection can't remove any more the next one to
// that machine does.
func TestPushLeftToTheNext(t *testing.T) {
	home := t.TempDir()
	s := startServer(t, shell(home, ""))
	shared := &Leftovers{}
	first := s.connect(t, Options{Leftovers: shared})
	_, err := first.Push(timeout(t, limit), packed(t, []byte("content")))
	must(t, err)
	first.raw.Close()
	wantError(t, first.Close(), "remove antipode.", "m1")
	second := s.connect(t, Options{Leftovers: shared})
	must(t, second.Tidy())
	wantEmpty(t, home)
	must(t, second.Close())
}

// gate lets a number of bytes out and then none until the connection is closed.
type gate struct {
	net.Conn
	left int
	full chan struct{}
}

func (g *gate) Write(p []byte) (int, error) {
	if g.left -= len(p); g.left > 0 {
		return g.Conn.Write(p)
	}
	close(g.full)
	var b [1]byte
	for {
		g.Conn.SetReadDeadline(time.Now().Add(time.Hour))
		if _, err := g.Conn.Read(b[:]); err != nil {
			return 0, errors.New("closed")
		}
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if !isEmpty(dir) {
		t.Errorf("%s is not empty", dir)
	}
}

func isEmpty(dir string) bool {
	names, err := filepath.Glob(filepath.Join(dir, "antipode*"))
	return err == nil && len(names) == 0
}

func TestQuote(t *testing.T) {
	for _, s := range []string{"plain", "it's", `a"b$c\d`, "", "two\nlines", strings.Repeat("'", 3)} {
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("quote(%q) came back as %q, %v", s, out, err)
		}
	}
}
