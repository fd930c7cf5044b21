package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

// fakeRemote reaches the machines of a planet.
type fakeRemote struct{ *planet }

func (r fakeRemote) AuthorizedKey() string { return "ssh-ed25519 AAAA run" }

func (r fakeRemote) HostKey(region string) ([]byte, string, error) {
	return []byte("private"), "ssh-ed25519 AAAA " + region, nil
}

func (r fakeRemote) Secrets() ([]byte, error) { return []byte("keys"), nil }

func (r fakeRemote) Connect(ctx context.Context, m providers.Machine) (Conn, error) {
	id := m.Cloud + ":" + m.Region
	f := r.faults[id]
	r.mu.Lock()
	live := r.machines[id]
	r.mu.Unlock()
	if f.bootHangs || live == nil || f.stillborn && live.first {
		<-ctx.Done()
		return nil, fmt.Errorf("connect: gave up: %w", context.Cause(ctx))
	}
	if !sleep(ctx, 5*time.Second) || !r.light(ctx) {
		return nil, ctx.Err()
	}
	if f.connect != nil {
		return nil, f.connect
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if live.spec.HostKey != m.HostKey || live.Public != m.Public {
		r.t.Errorf("Connect %s: not that machine, or another host key", id)
	}
	r.opened++
	c := &fakeConn{planet: r.planet, id: id, machine: live, ended: make(chan struct{})}
	live.conns = append(live.conns, c)
	if lost := r.dark[0].Add(keepAlive); time.Now().Before(r.dark[0]) && lost.Before(r.dark[1]) {
		time.AfterFunc(time.Until(lost), c.kill)
	}
	return c, nil
}

// tunedTo is what becomes of a machine's settings.
var tunedTo = []remote.Setting{
	{Name: "net.ipv4.tcp_rmem", Before: "4096 131072 6291456", After: "4096 131072 134217728"},
	{Name: "net.core.rmem_max", Failed: "not there"},
}

// keepAlive is how long a connection lives that hears nothing.
const keepAlive = 20 * time.Second

type fakeConn struct {
	*planet
	id      string
	machine *fakeMachine
	end     sync.Once
	ended   chan struct{}
}

func (c *fakeConn) Done() <-chan struct{} { return c.ended }

func (c *fakeConn) Push(ctx context.Context) (string, error) {
	if err := c.cutIn(StatePushing); err != nil {
		return "", err
	}
	if !sleep(ctx, time.Second) {
		return "", ctx.Err()
	}
	return "/home/user/probe", c.faults[c.id].push
}

func (c *fakeConn) Tune(ctx context.Context, t remote.Tuning) ([]remote.Setting, error) {
	c.mu.Lock()
	c.tunings++
	c.mu.Unlock()
	if !sleep(ctx, time.Second) {
		return nil, ctx.Err()
	}
	if err := c.faults[c.id].tune; err != nil {
		return nil, err
	}
	return tunedTo, nil
}

func (c *fakeConn) StartAgent(ctx context.Context, path string) (Agent, error) {
	f := c.faults[c.id]
	if err := cmp.Or(c.cutIn(StateStarting), f.agent); err != nil {
		return nil, err
	}
	if f.dies > 0 {
		time.AfterFunc(f.dies, c.kill)
	}
	return &fakeAgent{fakeConn: c}, nil
}

// cutIn breaks the connection if it is one of those to break in that state.
func (c *fakeConn) cutIn(s State) error {
	if len(c.machine.conns) > c.faults[c.id].cut[s] {
		return nil
	}
	c.kill()
	return errors.New("the connection was lost")
}

func (c *fakeConn) kill() { c.end.Do(func() { close(c.ended) }) }

func (c *fakeConn) Close() error {
	c.kill()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened--
	return nil
}

type fakeAgent struct{ *fakeConn }

func (a *fakeAgent) Hello() wire.Hello     { return wire.Hello{Kernel: "6.1", CPUs: 2} }
func (a *fakeAgent) Done() <-chan struct{} { return a.ended }
func (a *fakeAgent) Err() error            { return errors.New("the agent ended") }

// fakeTest is a test that runs.
type fakeTest struct {
	kind     plan.Kind
	from, to string
}

func (a *fakeAgent) Call(ctx context.Context, req wire.Request) (wire.Response, error) {
	switch {
	case req.Alive != nil:
		return wire.Response{}, a.stillThere(ctx)
	case req.Serve != nil:
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(req.Serve.Secret) != 32 || slices.Max(req.Serve.Secret) == 0 {
			a.t.Errorf("%s: Serve without a secret", a.id)
		}
		if err := a.cutIn(StateWaiting); err != nil {
			return wire.Response{}, err
		}
		a.machine.serves = req.Serve.Port
		return wire.Response{Serve: &wire.ServeResult{Port: req.Serve.Port}}, nil
	case req.RTT != nil:
		takes := time.Duration(float64(req.RTT.Probes) * req.RTT.IntervalMs * float64(time.Millisecond))
		return a.measure(ctx, plan.RTT, req.RTT.Peer, takes, req.RTT.DeadlineMs)
	}
	if u := req.UDP; u != nil {
		takes := time.Duration(u.DurationMs * float64(time.Millisecond))
		if _, err := a.measure(ctx, plan.Throughput, u.Peer, takes+200*time.Millisecond, u.DeadlineMs); err != nil {
			return wire.Response{}, err
		}
		return udpAnswer(u, a.faults[a.id])
	}
	takes := time.Duration(req.Throughput.DurationMs * float64(time.Millisecond))
	return a.measure(ctx, plan.Throughput, req.Throughput.Peer, takes+100*time.Millisecond, req.Throughput.DeadlineMs)
}

func (a *fakeAgent) stillThere(ctx context.Context) error {
	if a.faults[a.id].silent {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if a.ofEnded(a.machine) {
		<-a.ended
	}
	select {
	case <-a.ended:
		return a.Err()
	default:
		return nil
	}
}

// ofEnded is true of a machine that has ended, which others do not know yet.
func (a *fakeAgent) ofEnded(m *fakeMachine) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return m.ended
}

func (a *fakeAgent) measure(ctx context.Context, kind plan.Kind, peer wire.Peer, takes time.Duration, deadlineMs float64) (wire.Response, error) {
	if deadlineMs < ms(takes) {
		a.t.Errorf("%s from %s has a deadline of %v ms, and takes %v", kind, a.id, deadlineMs, takes)
	}
	test, to := a.begin(kind, peer)
	defer a.over(test)
	f := a.faults[a.id]
	if f.silent || a.ofEnded(a.machine) {
		takes = 1000 * time.Hour
	}
	select {
	case <-time.After(takes):
	case <-a.ended:
		return wire.Response{}, a.Err()
	case <-ctx.Done():
		return wire.Response{}, fmt.Errorf("call: %w", context.Cause(ctx))
	}
	if !a.light(ctx) {
		return wire.Response{}, context.Cause(ctx)
	}
	if to == nil || a.ofEnded(to) {
		return wire.Response{}, errors.New("the peer is silent")
	}
	if kind == plan.RTT {
		return rttAnswer(f)
	}
	return throughputAnswer(f)
}

func rttAnswer(f fault) (wire.Response, error) {
	r := &wire.RTTResult{Probes: 20, Received: 20, MinMs: 400, MeanMs: 411, P50Ms: 410, P99Ms: 450, StddevMs: 1}
	if f.nothing {
		r.Received = 0
	}
	return wire.Response{RTT: r}, f.rtt
}

func throughputAnswer(f fault) (wire.Response, error) {
	r := &wire.ThroughputResult{
		GoodputBps: 1e9, GoodputMeanBps: 9e8, Bytes: 1e9, DurationS: 3, Streams: 4,
		CongestionControl: "cubic", MSSBytes: 1448, RetransmitRatio: .01, Flags: []string{"a", "b"},
		Samples: trace.Log{{}, {At: 100 * time.Millisecond, Acked: 1000}}, Received: []int64{0, 900},
	}
	if f.implausible {
		r.RetransmitRatio = 2
	}
	return wire.Response{Throughput: r}, f.throughput
}

func udpAnswer(u *wire.UDP, f fault) (wire.Response, error) {
	if f.udp != nil {
		return wire.Response{}, f.udp
	}
	return wire.Response{UDP: &wire.UDPResult{
		TargetBps: u.RateBps, GoodputBps: .9 * u.RateBps, PacketsPerS: .9 * u.RateBps / 8000, DatagramBytes: 1000, Sent: 1000, Received: 900,
		LossRatio: .1, Reordered: 3, Duplicates: 2, JitterMs: .5, Bytes: 900_000, DurationS: 1, Offload: u.Offload,
	}}, nil
}

// begin checks that the peer can be reached and that nothing is disturbed.
func (a *fakeAgent) begin(kind plan.Kind, peer wire.Peer) (*fakeTest, *fakeMachine) {
	a.mu.Lock()
	defer a.mu.Unlock()
	test := &fakeTest{kind: kind, from: a.id}
	for id, m := range a.machines {
		if m.Public.String() == peer.Addr || m.IPv6.String() == peer.Addr {
			test.to = id
		}
	}
	from, to := a.machine, a.machines[test.to]
	if to == nil && !a.dead[peer.Addr] || to != nil && (to.serves != peer.Port || to.port != peer.Port || !slices.Contains(to.admitted, from.measures())) {
		a.t.Errorf("%s from %s to %s: the peer is not reached", kind, a.id, test.to)
	}
	for _, other := range a.tests {
		if other.kind != kind || kind == plan.Throughput && !a.crowded && (other.from == test.from || other.to == test.to) {
			a.t.Errorf("%v started while %v runs", *test, *other)
		}
	}
	a.tests = append(a.tests, test)
	return test, to
}

func (a *fakeAgent) over(test *fakeTest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tests = slices.DeleteFunc(a.tests, func(t *fakeTest) bool { return t == test })
}

// idle fails unless every connection is closed and no test runs.
func (p *planet) idle(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened != 0 || len(p.tests) != 0 {
		t.Errorf("%d connections are open, %d tests run", p.opened, len(p.tests))
	}
}
