//go:build linux

package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// TestPortTakenOver: an agent of the same run gives way to the next one.
func TestPortTakenOver(t *testing.T) {
	old, next := startProcess(t, false), startProcess(t, false)
	port := old.serve()
	r := await(t, next.ask(wire.Request{Serve: &wire.Serve{Secret: testSecret, Port: port}}))
	if r.Error != "" || r.Serve.Port != port {
		t.Fatalf("the next agent's answer is %+v", r)
	}
	select {
	case <-old.ended:
	case <-time.After(patience):
		t.Error("the old agent goes on")
	}
}

// TestPortKept: whoever lacks the secret gets nothing.
func TestPortKept(t *testing.T) {
	old, stranger := startProcess(t, false), startProcess(t, false)
	port := old.serve()
	secret := bytes.Repeat([]byte("x"), wire.SecretBytes)
	r := await(t, stranger.ask(wire.Request{Serve: &wire.Serve{Secret: secret, Port: port}}))
	if !strings.Contains(r.Error, "address already in use") {
		t.Errorf("a stranger's answer is %+v", r)
	}
	if r := await(t, old.ask(wire.Request{Alive: &wire.Alive{}})); r.Error != "" {
		t.Errorf("the old agent says %q", r.Error)
	}
}

// TestLinger: silence ends an agent, and signs of life keep it.
func TestLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, controller := io.Pipe()
		a := NewAgent("v0")
		a.Linger = 2 * time.Minute
		began := time.Now()
		go func() {
			out := wire.NewWriter(controller)
			for id := range uint64(10) {
				time.Sleep(time.Minute)
				must(t, out.Write(wire.Request{ID: id, Alive: &wire.Alive{}}))
			}
		}()
		err := a.Run(context.Background(), in, io.Discard)
		if took := time.Since(began); !errors.Is(err, errSilence) || took != 12*time.Minute {
			t.Errorf("Run = %v after %v, want silence after 12 min", err, took)
		}
		controller.Close() // the reader that is left ends with its input
	})
}
