//go:build unix

package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/lab/machine/sshd"
	"github.com/antipode-bench/antipode/probe/wire"
)

func serve(port int) wire.Request { return wire.Request{Serve: &wire.Serve{Port: port}} }

func startAgent(t *testing.T, h sshd.Handler, closeTimeout time.Duration) *Agent {
	t.Helper()
	c := startServer(t, h).connect(t, Options{CloseTimeout: closeTimeout})
	a, err := c.StartAgent(timeout(t, limit), "/agent")
	must(t, err)
	return a
}

// waitSaid waits until the agent's standard error is text.
func (a *Agent) waitSaid(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(limit); a.stderr.String() != text; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the agent said %q; want %q", a.stderr, text)
		}
	}
}

func TestCalls(t *testing.T) {
	a := startAgent(t, agentHandler, limit)
	if got := a.Hello().Build; got != "fake" {
		t.Errorf("Hello from build %q; want fake", got)
	}
	var wg sync.WaitGroup
	for port := 100; port < 200; port++ {
		wg.Go(func() {
			r, err := a.Call(timeout(t, limit), serve(port))
			if err != nil || r.Serve == nil || r.Serve.Port != port {
				t.Errorf("Call = %+v, %v; want port %d", r, err, port)
			}
		})
	}
	wg.Wait()
	must(t, a.Close())
	must(t, a.Close())
	_, err := a.Call(timeout(t, limit), serve(100))
	wantError(t, err, "m1", "closed")
}

func TestFailedRequest(t *testing.T) {
	a := startAgent(t, agentHandler, limit)
	r, err := a.Call(timeout(t, limit), serve(portFail))
	if failed := (*RequestError)(nil); !errors.As(err, &failed) || failed.Message != "cut short" {
		t.Errorf("error = %v; want the agent's words", err)
	}
	if r.Serve == nil || r.Serve.Port != 9 {
		t.Errorf("response = %+v; want what was measured until then", r)
	}
}

func TestCancelledCall(t *testing.T) {
	a := startAgent(t, agentHandler, limit)
	_, err := a.Call(timeout(t, 20*time.Millisecond), serve(portUntilCancel))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v; want a time-out", err)
	}
	a.waitSaid(t, "told to cancel 1")
	if _, err := a.Call(timeout(t, limit), serve(100)); err != nil {
		t.Errorf("the next call: %v", err)
	}
	_, err = a.Call(timeout(t, limit), wire.Request{Serve: &wire.Serve{Secret: make([]byte, wire.MaxLine)}})
	wantError(t, err, "m1", "too long")
}

// TestAgentEnds has all pending calls fail at once with the reason.
func TestAgentEnds(t *testing.T) {
	for name, c := range map[string]struct {
		port int
		want []string
	}{
		"Dies":      {portDie, []string{"m1", "exited with status 3", "panic: boom"}},
		"Garbage":   {portGarbage, []string{"m1", "garbage", "Segmentation fault"}},
		"UnknownID": {portUnknownID, []string{"m1", "garbage", "never made"}},
		"LongLine":  {portLongLine, []string{"m1", "too long"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := startAgent(t, agentHandler, limit)
			errs := make(chan error, 2)
			go func() { _, err := a.Call(timeout(t, limit), serve(portUntilCancel)); errs <- err }()
			go func() { _, err := a.Call(timeout(t, limit), serve(c.port)); errs <- err }()
			for range 2 {
				wantError(t, <-errs, c.want...)
			}
			<-a.Done()
			wantError(t, a.Err(), c.want...)
		})
	}
}

func TestAgentCutOff(t *testing.T) {
	s := startServer(t, agentHandler)
	a, err := s.connect(t, Options{}).StartAgent(timeout(t, limit), "/agent")
	must(t, err)
	time.AfterFunc(20*time.Millisecond, s.stop)
	_, err = a.Call(timeout(t, limit), serve(portUntilCancel))
	wantError(t, err, "m1", "lost")
}

// TestAgentThatWontEnd is closed by force, within CloseTimeout.
func TestAgentThatWontEnd(t *testing.T) {
	a := startAgent(t, agentHandler, 500*time.Millisecond)
	go a.Call(context.Background(), serve(portHang))
	a.waitSaid(t, "hanging")
	begin := time.Now()
	wantError(t, a.Close(), "m1", "killed")
	if took := time.Since(begin); took > limit/2 {
		t.Errorf("Close took %s", took)
	}
}

func TestBadStart(t *testing.T) {
	for name, c := range map[string]struct {
		handler sshd.Handler
		want    string
	}{
		"Missing":   {shell("/", ""), "exited with status 127"},
		"Version":   {sayHandler(fmt.Sprintf(`{"version":%d}`+"\n", wire.Version+1), 0), "version"},
		"Garbage":   {sayHandler("Welcome!\n", 0), "garbage"},
		"Nothing":   {sayHandler("", 4), "status 4"},
		"Silent":    {muteHandler, "said nothing for 50ms"},
		"NoNewline": {sayHandler("{", 0), "garbage"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := startServer(t, c.handler).connect(t, Options{HelloTimeout: 50 * time.Millisecond})
			if name != "Silent" {
				conn.options.HelloTimeout = limit
			}
			_, err := conn.StartAgent(timeout(t, limit), "/no/such/agent")
			wantError(t, err, "m1", c.want)
		})
	}
}

func FuzzDeliver(f *testing.F) {
	f.Add([]byte(`{"id":1,"serve":{"port":3}}`))
	f.Add([]byte(`{"id":2}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, line []byte) {
		a := &Agent{pending: map[uint64]chan wire.Response{}}
		_, answer := a.register()
		if err := a.deliver(line); err != nil && len(answer) > 0 {
			t.Error("delivered and an error")
		}
	})
}
