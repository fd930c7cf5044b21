//go:build linux

package probe

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

func TestReverse(t *testing.T) {
	_, peer := startServer(t)
	for name, req := range map[string]wire.Throughput{
		"bytes":        {Bytes: 20_000_000, Streams: 1},
		"many streams": {Bytes: 20_000_001, Streams: wire.MaxStreams, SampleMs: 10},
		"duration":     {DurationMs: 1000, Streams: 3, SampleMs: 100},
		"reno":         {Bytes: 20_000_000, Streams: 1, CongestionControl: "reno"},
	} {
		t.Run(name, func(t *testing.T) {
			req.Peer, req.DeadlineMs, req.Reverse = peer, deadlineMs, true
			r, err := NewClient(testSecret).Throughput(t.Context(), req)
			must(t, err)
			checkResult(t, req, r)
			if len(r.Samples) > 0 != (req.SampleMs > 0) {
				t.Errorf("%d samples", len(r.Samples))
			}
		})
	}
}

func TestBidirectional(t *testing.T) {
	_, peer := startServer(t)
	req := wire.Throughput{Peer: peer, Bytes: 50_000_000, Streams: 2, DeadlineMs: deadlineMs}
	began := time.Now()
	there, back, err := NewClient(testSecret).Bidirectional(t.Context(), req)
	must(t, err)
	checkResult(t, req, there)
	checkResult(t, req, back)
	if took := time.Since(began).Seconds(); there.DurationS+back.DurationS > 2*took {
		t.Errorf("%v s and %v s within %v s", there.DurationS, back.DurationS, took)
	}
	req.CongestionControl = "nosuch"
	if there, back, err = NewClient(testSecret).Bidirectional(t.Context(), req); err == nil || there != nil || back != nil {
		t.Errorf("%+v, %+v, %v", there, back, err)
	}
}

func TestReverseRefused(t *testing.T) {
	_, peer := startServer(t)
	addr, err := addrPort(peer)
	must(t, err)
	for name, c := range map[string]struct {
		test wire.Throughput
		want string
	}{
		"without an end":  {wire.Throughput{Streams: 1, DeadlineMs: 1000}, "neither bytes nor duration_ms"},
		"for ever":        {wire.Throughput{Streams: 1, DurationMs: 1e12, DeadlineMs: 1000}, "duration_ms"},
		"all there is":    {wire.Throughput{Streams: 1, Bytes: wire.MaxBytes + 1, DeadlineMs: 1000}, "bytes"},
		"a million":       {wire.Throughput{Streams: 1e6, Bytes: 1, DeadlineMs: 1000}, "streams 1000000"},
		"a window of one": {wire.Throughput{Streams: 1, Bytes: 1, DeadlineMs: 1000, Options: wire.TCPOptions{ReceiveWindowBytes: 1}}, "receive_window_bytes"},
	} {
		_, err := NewClient(testSecret).open(t.Context(), addr, order{Send: &c.test, DeadlineMs: 1000})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestSendsToItsClientOnly: without its streams nothing is sent, nor to streams
// that prove another session.
func TestSendsToItsClientOnly(t *testing.T) {
	s, peer := startServer(t)
	addr, err := addrPort(peer)
	must(t, err)
	test := wire.Throughput{Streams: 2, Bytes: 1 << 40, DeadlineMs: deadlineMs}
	ctl, err := NewClient(testSecret).open(t.Context(), addr, order{Send: &test, DeadlineMs: deadlineMs})
	must(t, err)
	other := stranger(t, s, hello{kind: helloData, session: ctl.id, token: [32]byte{1}}.encode())
	if got, _ := io.ReadAll(other); len(got) > 0 {
		t.Errorf("a stream without proof got %d bytes", len(got))
	}
	one := stranger(t, s, hello{kind: helloData, session: ctl.id, token: streamProof(ctl.key, "data", 0)}.encode())
	must(t, readFull(one, make([]byte, macBytes)))
	must(t, ctl.out.Write(news{Ready: true}))
	if _, err := ctl.readNews(time.Now().Add(patience)); err == nil || !strings.Contains(err.Error(), "not all open") {
		t.Errorf("with a stream missing: %v", err)
	}
	if got, _ := io.ReadAll(one); len(got) > 0 {
		t.Errorf("a stream of two got %d bytes", len(got))
	}
}

// TestReverseLimit has a client that reads on, and says nothing: no more than
// the order's bytes come, until its deadline.
func TestReverseLimit(t *testing.T) {
	s, peer := startServer(t)
	addr, err := addrPort(peer)
	must(t, err)
	test := wire.Throughput{Streams: 1, Bytes: 1_000_000, DeadlineMs: 3000}
	again(t, func() (wrong string) {
		ctl, err := NewClient(testSecret).open(t.Context(), addr, order{Send: &test, DeadlineMs: test.DeadlineMs})
		must(t, err)
		data := stranger(t, s, hello{kind: helloData, session: ctl.id, token: streamProof(ctl.key, "data", 0)}.encode())
		must(t, readFull(data, make([]byte, macBytes)))
		must(t, ctl.out.Write(news{Ready: true}))
		n, _ := io.Copy(io.Discard, data)
		if n > test.Bytes {
			t.Errorf("%d bytes came, want %d", n, test.Bytes)
		}
		if n < test.Bytes {
			return fmt.Sprintf("%d bytes came before the deadline, want %d", n, test.Bytes)
		}
		return ""
	})
}

func TestReversePeerKilled(t *testing.T) {
	t.Parallel()
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		from, to, peer := pair(t)
		req := long(peer, never)
		req.Throughput.Reverse = true
		answer := from.ask(req)
		time.Sleep(while)
		to.kill()
		return await(t, answer)
	})
	wantFailure(t, r, "peer ended")
	wantPartial(t, r)
}

func TestReversePeerSilent(t *testing.T) {
	t.Parallel()
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		p := newPath(t, pathConfig{delay: 5 * time.Millisecond, mbps: 20})
		req := long(p.peer, never)
		req.Throughput.Reverse = true
		answer := p.from.ask(req)
		time.Sleep(while)
		p.cut.Store(true)
		return await(t, answer)
	})
	wantFailure(t, r, "peer vanished: nothing received for")
	wantPartial(t, r)
}

// TestReverseClientGone: the server stops when its client dies.
func TestReverseClientGone(t *testing.T) {
	s, peer := startServer(t)
	from := startProcess(t, false)
	from.serve()
	req := long(peer, never)
	req.Throughput.Reverse = true
	from.ask(req)
	waitFor(t, func() bool { return sessions(s) == 1 })
	from.kill()
	waitFor(t, func() bool { return sessions(s) == 0 })
}

func sessions(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for by := time.Now().Add(patience); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(by) {
			t.Fatal("it does not come")
		}
	}
}

func TestResultsThatLie(t *testing.T) {
	honest := func() *wire.ThroughputResult {
		return &wire.ThroughputResult{Bytes: 100, Streams: 1, CongestionControl: "cubic", LimitedBy: "unknown",
			Flags: []string{"slow-start"}, PerStream: make([]wire.StreamResult, 1)}
	}
	counted := &count{Bytes: 100, Streams: []int64{100}}
	must(t, agrees(honest(), counted, 1))
	for name, change := range map[string]func(*wire.ThroughputResult){
		"more bytes":  func(r *wire.ThroughputResult) { r.Bytes = 1000 },
		"streams":     func(r *wire.ThroughputResult) { r.PerStream = nil },
		"below zero":  func(r *wire.ThroughputResult) { r.GoodputBps = -1 },
		"a clear bel": func(r *wire.ThroughputResult) { r.CongestionControl = "\x1b[2J\a" },
		"a flag":      func(r *wire.ThroughputResult) { r.Flags = []string{"a\nb"} },
	} {
		r := honest()
		change(r)
		if err := agrees(r, counted, 1); !errors.Is(err, errBadResult) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
