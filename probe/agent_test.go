//go:build linux

package probe

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// converse runs an agent on the lines and returns its answers, hello apart.
func converse(t *testing.T, lines string) (answers []wire.Response, err error) {
	t.Helper()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := NewAgent("v0").Run(t.Context(), strings.NewReader(lines), w)
		w.Close()
		ended <- err
	}()
	in := wire.NewReader(r)
	var hello wire.Hello
	must(t, in.Read(&hello))
	if hello.Version != wire.Version || hello.Build != "v0" || hello.CongestionControl == "" {
		t.Errorf("hello %+v", hello)
	}
	for {
		var resp wire.Response
		if err := in.Read(&resp); errors.Is(err, io.EOF) {
			return answers, <-ended
		} else if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, resp)
	}
}

func TestAgentAnswers(t *testing.T) {
	serve := `{"id":1,"serve":{"secret":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=","port":0}}` + "\n"
	tests := []struct {
		name, lines string
		id          uint64 // of the last answer
		want        string // in its error; empty: no error
	}{
		{"serve", serve, 1, ""},
		{"serve twice", serve + strings.Replace(serve, "1", "2", 1), 2, "serves already"},
		{"test before serve", `{"id":3,"rtt":{"peer":{"addr":"127.0.0.1","port":1},"probes":1,"interval_ms":1,"wait_ms":1,"deadline_ms":1000}}` + "\n", 3, "serve comes before"},
		{"no JSON", "what?\n", 0, "not a JSON object"},
		{"unknown field", `{"id":4,"rttt":{}}` + "\n", 4, "unknown field"},
		{"nothing asked", `{"id":5}` + "\n", 5, "asks 0 things"},
		{"bad value", `{"id":6,"throughput":{"peer":{"addr":"127.0.0.1","port":1},"streams":0,"bytes":1,"deadline_ms":5}}` + "\n", 6, "streams 0"},
		{"cancel of nothing", `{"id":7,"cancel":{"id":1}}` + "\n", 7, "no request 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answers, err := converse(t, tt.lines)
			if err != nil || len(answers) == 0 {
				t.Fatalf("%d answers, %v", len(answers), err)
			}
			got := answers[len(answers)-1]
			if got.ID != tt.id || (tt.want == "") != (got.Error == "") || !strings.Contains(got.Error, tt.want) {
				t.Errorf("answer %+v, want ID %d and error %q", got, tt.id, tt.want)
			}
		})
	}
}

func TestAgentEndsOnEndlessLine(t *testing.T) {
	_, err := converse(t, strings.Repeat("x", wire.MaxLine+1))
	if !errors.Is(err, wire.ErrTooLong) {
		t.Errorf("Run = %v, want ErrTooLong", err)
	}
}

func TestPortTaken(t *testing.T) {
	s, _ := startServer(t)
	if _, err := Listen(testSecret, s.Port()); err == nil {
		t.Error("two servers on one port")
	}
}

// TestClientEndsWithContext: every wait ends, also that for a server that
// accepts and says nothing.
func TestClientEndsWithContext(t *testing.T) {
	quiet := stillListener(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	began := time.Now()
	_, err := NewClient(testSecret).RTT(ctx, wire.RTT{Peer: quiet, Probes: 1, IntervalMs: 1, WaitMs: 1, DeadlineMs: wire.MaxDeadlineMs})
	if !errors.Is(err, why) || time.Since(began) > patience {
		t.Errorf("RTT = %v after %v, want %v", err, time.Since(began), why)
	}
}

// TestAnswersAlways: a figure that JSON has no word for is an error, not silence.
func TestAnswersAlways(t *testing.T) {
	var out strings.Builder
	a := NewAgent("v0")
	a.out = wire.NewWriter(&out)
	must(t, a.answer(wire.Response{ID: 3, RTT: &wire.RTTResult{MeanMs: math.NaN()}}, nil))
	if !strings.Contains(out.String(), `"id":3,"error":"no result:`) {
		t.Errorf("answered %s", out.String())
	}
}
