//go:build linux

package probe

import (
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// TestPathFacts: a path that drops what is too large in silence, and one on
// which nothing is.
func TestPathFacts(t *testing.T) {
	for name, c := range map[string]struct {
		path pathConfig
		want int
	}{
		"drops jumbo frames": {pathConfig{delay: 5 * time.Millisecond, mtu: 9001, most: 1500}, 1500},
		"an odd tunnel":      {pathConfig{delay: 5 * time.Millisecond, most: 1437}, 1437},
		"carries all":        {pathConfig{mtu: 8896}, 8896},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, c.path)
			req := wire.RTT{Peer: p.peer, Probes: 20, IntervalMs: 5, WaitMs: 1000, DeadlineMs: 30_000, Path: true}
			r := await(t, p.from.ask(wire.Request{RTT: &req}), 40*time.Second)
			if r.Error != "" || r.RTT.Path == nil || r.RTT.Counts == nil {
				t.Fatalf("%+v, %q", r.RTT, r.Error)
			}
			got := *r.RTT.Path
			if got.MTUBytes != c.want {
				t.Errorf("MTU %d, want %d", got.MTUBytes, c.want)
			}
			least := 2 * inMs(c.path.delay)
			if got.TCPConnectMs <= least || got.ICMPP50Ms <= least { // the agents are root
				t.Errorf("TCP connect %v ms, ICMP %v ms; want more than %v", got.TCPConnectMs, got.ICMPP50Ms, least)
			}
			if got.FromAddressKind != wire.AddressPrivate || got.ToAddressKind != wire.AddressPrivate {
				t.Errorf("%+v", got)
			}
			if r.RTT.OneWay == nil || r.RTT.OneWay.ErrorMs <= 0 {
				t.Errorf("one way: %+v", r.RTT.OneWay)
			}
			t.Logf("%+v %+v %+v %+v", *r.RTT, got, *r.RTT.OneWay, *r.RTT.Counts)
		})
	}
}

// TestPathFactsOfADeadPath: nothing is waited for where nothing answers.
func TestPathFactsOfADeadPath(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{most: 1}) // the control connection is not opened either
	req := wire.RTT{Peer: p.peer, Probes: 3, IntervalMs: 1, WaitMs: 10, DeadlineMs: 500, Path: true}
	r := await(t, p.from.ask(wire.Request{RTT: &req}), 10*time.Second)
	wantFailure(t, r, "open control connection")
}

func TestPathFactsOfLoopback(t *testing.T) {
	_, peer := startServer(t)
	r, err := NewClient(testSecret).RTT(t.Context(), wire.RTT{Peer: peer, Probes: 10, IntervalMs: 1, WaitMs: 5000, DeadlineMs: 20_000, Path: true})
	must(t, err)
	if f := r.Path; f.FromAddressKind != wire.AddressLoopback || f.ToAddressKind != wire.AddressLoopback || f.TCPConnectMs <= 0 {
		t.Errorf("%+v", *f)
	}
}
