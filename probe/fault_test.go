//go:build linux

package probe

import (
	"strings"
	"syscall"
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

// long is a test that would take a minute.
func long(peer wire.Peer, deadline time.Duration) wire.Request {
	return wire.Request{Throughput: &wire.Throughput{
		Peer: peer, DurationMs: 60_000, Streams: 2, DeadlineMs: float64(deadline.Milliseconds()),
	}}
}

// letRun gives a test time to transfer something. What follows does not
// depend on how much.
const letRun = 700 * time.Millisecond

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
	from, to, peer := pair(t)
	answer := from.ask(long(peer, time.Minute))
	rtt := from.ask(wire.Request{RTT: &wire.RTT{Peer: peer, Probes: 6000, IntervalMs: 10, WaitMs: 1000, DeadlineMs: 60_000}})
	time.Sleep(letRun)
	to.kill()
	r := await(t, answer, 3*time.Second)
	wantFailure(t, r, "peer ended")
	wantPartial(t, r)
	r = await(t, rtt, 3*time.Second)
	wantFailure(t, r, "peer ended")
	if r.RTT == nil || r.RTT.Received == 0 || r.RTT.LossRatio < 0 {
		t.Errorf("partial result %+v", r.RTT)
	}
}

func TestPeerStopped(t *testing.T) {
	t.Parallel()
	from, to, peer := pair(t)
	answer := from.ask(long(peer, 3*time.Second))
	rtt := from.ask(wire.Request{RTT: &wire.RTT{Peer: peer, Probes: 6000, IntervalMs: 10, WaitMs: 100, DeadlineMs: 3000}})
	time.Sleep(letRun)
	to.cmd.Process.Signal(syscall.SIGSTOP)
	r := await(t, answer, 6*time.Second)
	wantFailure(t, r, "peer vanished: nothing received for", "deadline exceeded: 3s")
	wantPartial(t, r)
	wantFailure(t, await(t, rtt, 6*time.Second), "peer vanished")
}

func TestPeerSilent(t *testing.T) {
	t.Parallel()
	from, to, peer := pair(t)
	answer := from.ask(long(peer, time.Minute))
	time.Sleep(letRun)
	to.cmd.Process.Signal(syscall.SIGSTOP)
	r := await(t, answer, silenceLimit+5*time.Second)
	wantFailure(t, r, "peer vanished: nothing received for 5")
	wantPartial(t, r)
}

func TestPathCut(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{delay: 5 * time.Millisecond, mbps: 20})
	answer := p.from.ask(long(p.peer, 3*time.Second))
	time.Sleep(letRun)
	p.cut.Store(true)
	r := await(t, answer, 6*time.Second)
	wantFailure(t, r, "peer vanished: nothing received for")
	wantPartial(t, r)
	r = await(t, p.from.ask(long(p.peer, time.Second)), 4*time.Second)
	wantFailure(t, r, "open control connection to 10.99.0.2")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	from, _, peer := pair(t)
	answer := from.ask(long(peer, time.Minute)) // request 2, after serve
	time.Sleep(letRun)
	if r := await(t, from.ask(wire.Request{Cancel: &wire.Cancel{ID: 2}}), time.Second); r.Error != "" {
		t.Error(r.Error)
	}
	r := await(t, answer, 2*time.Second)
	wantFailure(t, r, "cancelled by the controller")
	wantPartial(t, r)
	r = await(t, from.ask(wire.Request{Cancel: &wire.Cancel{ID: 2}}), time.Second)
	wantFailure(t, r, "no request 2 is running")
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	from, to, peer := pair(t)
	to.kill()
	<-to.ended
	r := await(t, from.ask(long(peer, time.Minute)), 5*time.Second)
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
	from.ask(long(peer, time.Minute))
	time.Sleep(letRun)
	from.end()
	other := startProcess(t, false)
	other.serve()
	req := wire.Throughput{Peer: peer, Bytes: 10_000_000, Streams: 3, DeadlineMs: 10_000}
	r := await(t, other.ask(wire.Request{Throughput: &req}), 15*time.Second)
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
	req := wire.Throughput{Peer: peer, Bytes: 1000, Streams: 2, DeadlineMs: 5000, CongestionControl: "nosuch"}
	r := await(t, from.ask(wire.Request{Throughput: &req}), 6*time.Second)
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
				p.ask(wire.Request{Throughput: &wire.Throughput{Peer: atB, Bytes: 5_000_000, Streams: 4, DeadlineMs: 30_000}}),
				p.ask(wire.Request{RTT: &wire.RTT{Peer: atB, Probes: 20, IntervalMs: 5, WaitMs: 2000, DeadlineMs: 30_000}}))
		}
	}
	for _, answer := range answers {
		if r := await(t, answer, 30*time.Second); r.Error != "" {
			t.Error(r.Error)
		}
	}
}
