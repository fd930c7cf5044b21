//go:build linux

package probe

import (
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// pair is two agents on loopback, the second serving.
func pair(t *testing.T) (from, to *process, peer wire.Peer) {
	t.Helper()
	from, to = startProcess(t, false), startProcess(t, false)
	from.serve()
	return from, to, wire.Peer{Addr: "127.0.0.1", Port: to.serve()}
}

// long is a test that would take ten minutes. It is slow, so that many of them at
// once leave the CPU to those they talk to.
func long(peer wire.Peer, deadline time.Duration) wire.Request {
	return wire.Request{Throughput: &wire.Throughput{
		Peer: peer, DurationMs: 600_000, Streams: 2, DeadlineMs: float64(deadline.Milliseconds()),
		Options: wire.TCPOptions{RateBps: 20e6},
	}}
}

// never is a deadline that no test reaches.
const never = time.Hour

// letRun gives a test time to transfer something. What follows does not
// depend on how much.
const letRun = 700 * time.Millisecond

// afterAWhile has run start a test, spoil it after a while, and wait for the
// answer. If nothing had been transferred by then, on a computer that was busy
// with something else, there is nothing to be seen: it is run again, with twice as
// long.
func afterAWhile(t *testing.T, run func(while time.Duration) wire.Response) wire.Response {
	t.Helper()
	for while := letRun; ; while *= 2 {
		r := run(while)
		some := r.Throughput != nil && r.Throughput.Bytes > 0 || r.UDP != nil && r.UDP.Received > 0
		if some || while > 20*letRun {
			return r
		}
		t.Logf("nothing was kept after %v: %s", while, r.Error)
	}
}

func wantFailure(t *testing.T, r wire.Response, parts ...string) {
	t.Helper()
	for _, want := range parts {
		if !strings.Contains(r.Error, want) {
			t.Errorf("error %q, want %q in it", r.Error, want)
		}
	}
}

func wantPartial(t *testing.T, r wire.Response) {
	t.Helper()
	if r.Throughput == nil || r.Throughput.Bytes == 0 {
		t.Fatalf("nothing was kept: %+v", r.Throughput)
	}
	for _, f := range r.Throughput.Flags {
		if f == trace.FlagPartial {
			return
		}
	}
	t.Errorf("flags %v, want %q among them", r.Throughput.Flags, trace.FlagPartial)
}

func TestPeerKilled(t *testing.T) {
	t.Parallel()
	var rtt wire.Response
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		from, to, peer := pair(t)
		answer := from.ask(long(peer, never))
		beside := from.ask(wire.Request{RTT: &wire.RTT{Peer: peer, Probes: 60_000, IntervalMs: 10, WaitMs: 1000, DeadlineMs: wire.MaxDeadlineMs}})
		time.Sleep(while)
		to.kill()
		rtt = await(t, beside)
		return await(t, answer)
	})
	wantFailure(t, r, "peer ended")
	wantPartial(t, r)
	wantFailure(t, rtt, "peer ended")
	if rtt.RTT == nil || rtt.RTT.Received == 0 || rtt.RTT.LossRatio < 0 {
		t.Errorf("partial result %+v", rtt.RTT)
	}
}

// TestPeerStopped has a deadline before a silence is too long.
func TestPeerStopped(t *testing.T) {
	t.Parallel()
	var rtt wire.Response
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		deadline := while + silenceLimit - time.Second
		from, to, peer := pair(t)
		answer := from.ask(long(peer, deadline))
		beside := from.ask(wire.Request{RTT: &wire.RTT{
			Peer: peer, Probes: 60_000, IntervalMs: 10, WaitMs: 100, DeadlineMs: float64(deadline.Milliseconds()),
		}})
		time.Sleep(while)
		to.stop()
		rtt = await(t, beside)
		return await(t, answer)
	})
	wantFailure(t, r, "peer vanished: nothing received for", "deadline exceeded: ")
	wantPartial(t, r)
	wantFailure(t, rtt, "peer vanished")
}

func TestPeerSilent(t *testing.T) {
	t.Parallel()
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		from, to, peer := pair(t)
		answer := from.ask(long(peer, never))
		time.Sleep(while)
		to.stop()
		return await(t, answer)
	})
	wantFailure(t, r, "peer vanished: nothing received for")
	wantPartial(t, r)
}

func TestPathCut(t *testing.T) {
	t.Parallel()
	var p *path
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		p = newPath(t, pathConfig{delay: 5 * time.Millisecond, mbps: 20})
		answer := p.from.ask(long(p.peer, while+silenceLimit-time.Second))
		time.Sleep(while)
		p.cut.Store(true)
		return await(t, answer)
	})
	wantFailure(t, r, "peer vanished: nothing received for")
	wantPartial(t, r)
	r = await(t, p.from.ask(long(p.peer, time.Second)))
	wantFailure(t, r, "open control connection to 10.99.0.2")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	const id = 2 // of the first request, after serve
	var from *process
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		var peer wire.Peer
		from, _, peer = pair(t)
		answer := from.ask(long(peer, never))
		time.Sleep(while)
		if r := await(t, from.ask(wire.Request{Cancel: &wire.Cancel{ID: id}})); r.Error != "" {
			t.Error(r.Error)
		}
		return await(t, answer)
	})
	wantFailure(t, r, "cancelled by the controller")
	wantPartial(t, r)
	r = await(t, from.ask(wire.Request{Cancel: &wire.Cancel{ID: id}}))
	wantFailure(t, r, "no request 2 is running")
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	from, to, peer := pair(t)
	to.kill()
	<-to.ended
	r := await(t, from.ask(long(peer, never)))
	wantFailure(t, r, "connection refused")
	if r.Throughput != nil {
		t.Errorf("a result of nothing: %+v", r.Throughput)
	}
}

// TestEndsWithInput is about the agent's end in the middle of a test: process.end
// checks that it comes, here that the peer's other tests don't notice.
func TestEndsWithInput(t *testing.T) {
	t.Parallel()
	from, to, peer := pair(t)
	from.ask(long(peer, never))
	time.Sleep(letRun)
	from.end()
	other := startProcess(t, false)
	other.serve()
	req := wire.Throughput{Peer: peer, Bytes: 10_000_000, Streams: 3, DeadlineMs: deadlineMs}
	r := await(t, other.ask(wire.Request{Throughput: &req}))
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	checkResult(t, req, r.Throughput)
	if to.hello.Version != wire.Version || to.hello.CPUs < 1 || to.hello.OS != "Linux" || to.hello.Arch == "" {
		t.Errorf("hello %+v", to.hello)
	}
}

func TestUnknownCongestionControl(t *testing.T) {
	t.Parallel()
	from, _, peer := pair(t)
	req := wire.Throughput{Peer: peer, Bytes: 1000, Streams: 2, DeadlineMs: deadlineMs, CongestionControl: "nosuch"}
	r := await(t, from.ask(wire.Request{Throughput: &req}))
	wantFailure(t, r, `congestion control "nosuch"`, "has only")
}

// TestManyAtOnce has agents that serve each other, and run tests both ways.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	a, b, atB := pair(t)
	c := startProcess(t, false)
	c.serve()
	var answers []<-chan wire.Response
	for range 3 {
		for _, p := range []*process{a, b, c} {
			answers = append(answers,
				p.ask(wire.Request{Throughput: &wire.Throughput{Peer: atB, Bytes: 5_000_000, Streams: 4, DeadlineMs: deadlineMs}}),
				p.ask(wire.Request{RTT: &wire.RTT{Peer: atB, Probes: 20, IntervalMs: 5, WaitMs: 30_000, DeadlineMs: deadlineMs}}))
		}
	}
	for _, answer := range answers {
		if r := await(t, answer); r.Error != "" {
			t.Error(r.Error)
		}
	}
}
