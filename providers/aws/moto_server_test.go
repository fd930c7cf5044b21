//go:build unix

package aws

import (
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startMoto starts a server for as long as the test runs. Where there is none
// to start, the test is skipped, but not in CI.
func startMoto(t *testing.T) *moto {
	t.Helper()
	path, err := exec.LookPath("moto_server")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("moto_server is not installed (pip install 'moto[server]')")
	}
	if err != nil {
		t.Fatal(err)
	}
	listens := make(chan string, 1)
	said := &motoSays{addr: listens}
	cmd := exec.Command(path, "-H", "127.0.0.1", "-p", "0")
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it may be a script that starts another process
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("moto_server said at last:\n%s", said.last(2000))
		}
	})
	select {
	case addr := <-listens:
		return &moto{addr: addr}
	case <-time.After(motoStartLimit):
		t.Fatalf("moto_server does not listen after %v", motoStartLimit)
		return nil
	}
}

// motoStartLimit is far more than it takes: 3 s of a core, of which there may be
// little.
const motoStartLimit = 3 * time.Minute

// motoSays takes what the server prints, and out of it where it listens.
type motoSays struct {
	mu   sync.Mutex
	addr chan<- string // nil once it was told
	text []byte
}

var motoListens = regexp.MustCompile(`Running on http://([0-9.]+:[0-9]+)\s`)

func (s *motoSays) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	if s.addr == nil {
		return len(p), nil
	}
	if at := motoListens.FindSubmatch(s.text); at != nil {
		s.addr <- string(at[1])
		s.addr = nil
	}
	return len(p), nil
}

// last is the end of it, n bytes at most.
func (s *motoSays) last(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text[max(0, len(s.text)-n):]
}
