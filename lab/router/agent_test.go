//go:build linux

package router

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe"
	"github.com/antipode-bench/antipode/probe/wire"
)

// agentEnv makes the test binary be the probe's agent: a process of its own in
// a machine, as in the lab.
const agentEnv = "ANTIPODE_TEST_AGENT"

func runAgent() {
	if probe.NewAgent("test").Run(context.Background(), os.Stdin, os.Stdout) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// agent is one that runs in a machine. It takes one request at a time.
type agent struct {
	in   *wire.Reader
	out  *wire.Writer
	peer wire.Peer
	ends *time.Timer // kills one that does not answer
}

// agent starts one, which ends with the test.
func (m *machine) agent(t *testing.T) *agent {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), agentEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	a := &agent{in: wire.NewReader(out), out: wire.NewWriter(in)}
	a.ends = time.AfterFunc(time.Hour, func() { cmd.Process.Kill() })
	t.Cleanup(func() { a.ends.Stop() })
	var hello wire.Hello
	if err := a.in.Read(&hello); err != nil {
		t.Fatal(err)
	}
	r := a.ask(t, patience, wire.Request{Serve: &wire.Serve{Secret: make([]byte, wire.SecretBytes)}})
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	a.peer = wire.Peer{Addr: m.addr.String(), Port: r.Serve.Port}
	return a
}

// ask waits for the answer.
func (a *agent) ask(t *testing.T, limit time.Duration, req wire.Request) (r wire.Response) {
	t.Helper()
	req.ID = 1
	if err := a.out.Write(req); err != nil {
		t.Fatal(err)
	}
	a.ends.Reset(limit)
	defer a.ends.Stop()
	if err := a.in.Read(&r); err != nil {
		t.Fatal(err)
	}
	return r
}
