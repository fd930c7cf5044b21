//go:build linux

package probe

import (
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/antipode-bench/antipode/probe/wire"
)

// agentEnv makes the test binary be an agent: a process that can be stopped,
// killed and put in a namespace.
const agentEnv = "ANTIPODE_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentEnv) != "" {
		if err := NewAgent("test").Run(context.Background(), os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil { // they wait for peers that are silent, not for the CPU
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// process is an agent in a process of its own.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *wire.Writer
	hello wire.Hello

	mu      sync.Mutex
	next    uint64
	answers map[uint64]chan wire.Response
	ended   chan struct{} // closed when its output has ended
}

// startProcess starts an agent, in a network namespace of its own if isolated.
// It ends with the test.
func startProcess(t *testing.T, isolated bool) *process {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), agentEnv+"=1")
	cmd.Stderr = os.Stderr
	if isolated {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	}
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &process{
		t: t, cmd: cmd, stdin: stdin, out: wire.NewWriter(stdin),
		answers: map[uint64]chan wire.Response{}, ended: make(chan struct{}),
	}
	in := wire.NewReader(stdout)
	must(t, in.Read(&p.hello))
	go p.read(in)
	t.Cleanup(p.end)
	return p
}

func (p *process) read(in *wire.Reader) {
	defer close(p.ended)
	for {
		var r wire.Response
		if err := in.Read(&r); err != nil {
			return
		}
		p.mu.Lock()
		c := p.answers[r.ID]
		delete(p.answers, r.ID)
		p.mu.Unlock()
		if c == nil {
			p.t.Errorf("answer to nothing: %+v", r)
			continue
		}
		c <- r
	}
}

// end closes its input, and kills it if that does not end it.
func (p *process) end() {
	p.stdin.Close()
	p.cmd.Process.Signal(syscall.SIGCONT) // in case the test stopped it
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Error("agent does not end with its input")
		p.kill()
	}
	p.cmd.Wait()
}

func (p *process) kill() { p.cmd.Process.Kill() }

// stop has it stand still.
func (p *process) stop() { p.cmd.Process.Signal(syscall.SIGSTOP) }

// ask sends a request and returns where its answer will be.
func (p *process) ask(req wire.Request) <-chan wire.Response {
	p.t.Helper()
	p.mu.Lock()
	p.next++
	req.ID = p.next
	c := make(chan wire.Response, 1)
	p.answers[req.ID] = c
	p.mu.Unlock()
	must(p.t, p.out.Write(req))
	return c
}

// patience is longer than anything takes that comes at all, and deadlineMs, of a
// test that has time enough, is still shorter: what hangs says so itself.
const (
	patience   = 2 * time.Minute
	deadlineMs = 90_000
)

// await waits for an answer.
func await(t *testing.T, c <-chan wire.Response) wire.Response {
	t.Helper()
	select {
	case r := <-c:
		return r
	case <-time.After(patience):
		t.Fatalf("no answer within %v", patience)
		return wire.Response{}
	}
}

// serve makes the agent listen and returns its port.
func (p *process) serve() int {
	p.t.Helper()
	r := await(p.t, p.ask(wire.Request{Serve: &wire.Serve{Secret: testSecret}}))
	if r.Error != "" {
		p.t.Fatal(r.Error)
	}
	return r.Serve.Port
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
