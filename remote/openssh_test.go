//go:build unix

package remote

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// TestOpenSSH goes the whole way with the server that machines really run.
func TestOpenSSH(t *testing.T) {
	program := findSSHD(t)
	s := startOpenSSH(t, program)
	begin := time.Now()
	c := s.connect(t, Options{})
	t.Logf("connected after %s", time.Since(begin))
	begin = time.Now()
	_, err := c.Push(timeout(t, limit), packed(t, noise(3<<20)))
	must(t, err)
	t.Logf("pushed 3 MiB in %s", time.Since(begin))

	script, err := os.ReadFile("testdata/agent.sh")
	must(t, err)
	script = bytes.ReplaceAll(script, []byte("VERSION"), strconv.AppendInt(nil, wire.Version, 10))
	file, err := c.Push(timeout(t, limit), packed(t, script))
	must(t, err)
	a, err := c.StartAgent(timeout(t, limit), file)
	must(t, err)
	if r, err := a.Call(timeout(t, limit), serve(100)); err != nil || r.Serve.Port != 100 {
		t.Errorf("Call = %+v, %v", r, err)
	}
	_, err = a.Call(timeout(t, limit), serve(portDie))
	wantError(t, err, "m1", "exited with status 3", "panic: boom")

	a, err = c.StartAgent(timeout(t, limit), file)
	must(t, err)
	must(t, c.Tidy())
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("the pushed folder is still there: %v", err)
	}
	if r, err := a.Call(timeout(t, limit), serve(100)); err != nil || r.Serve.Port != 100 {
		t.Errorf("Call without the file = %+v, %v", r, err)
	}
	must(t, a.Close())
	must(t, c.Close())

	target := s.target()
	target.HostKey = newPair(t).AuthorizedKey
	_, err = Connect(timeout(t, limit), target, Options{Key: s.user.Signer})
	wantError(t, err, "m1", "host key")
}

func findSSHD(t *testing.T) string {
	t.Helper()
	for _, p := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no OpenSSH server (package openssh-server)")
	}
	t.Skip("no OpenSSH server (package openssh-server)")
	return ""
}

// startOpenSSH runs sshd on loopback for the user who runs the test.
func startOpenSSH(t *testing.T, program string) *server {
	t.Helper()
	me, err := user.Current()
	must(t, err)
	if me.Uid == "0" {
		must(t, os.MkdirAll("/run/sshd", 0o755)) // sshd's privilege separation insists
	}
	s := &server{user: newPair(t), hostKey: newPair(t)}
	dir, port := t.TempDir(), freePort(t)
	s.addr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)
	// SHLVL keeps bash from reading the .bashrc of whoever runs the test.
	write(t, dir, "host_key", string(s.hostKey.PEM))
	write(t, dir, "authorized_keys", s.user.AuthorizedKey+"\n")
	config := write(t, dir, "config", strings.ReplaceAll(fmt.Sprintf(`
ListenAddress 127.0.0.1:%d
HostKey DIR/host_key
AuthorizedKeysFile DIR/authorized_keys
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
SetEnv SHLVL=2
`, port), "DIR", dir))
	cmd := exec.Command(program, "-D", "-e", "-f", config)
	log := &tail{}
	cmd.Stderr = log
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("sshd: %s", log)
		}
	})
	s.login = me.Username
	skipIfShutOut(t, s, log)
	return s
}

// skipIfShutOut skips the test for accounts that sshd lets nobody log in to.
func skipIfShutOut(t *testing.T, s *server, log *tail) {
	t.Helper()
	c, err := Connect(timeout(t, 5*time.Second), s.target(), Options{Key: s.user.Signer})
	if err == nil {
		must(t, c.Close())
	}
	if said := log.String(); err != nil && os.Getenv("CI") != "true" && strings.Contains(said, "not allowed because") {
		t.Skipf("sshd: %s", said)
	}
}

// freePort is one that nobody listens on now; the retries of Connect bridge
// the time until sshd does.
func freePort(t *testing.T) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return netip.MustParseAddrPort(l.Addr().String()).Port()
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	must(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}
