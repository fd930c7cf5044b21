//go:build linux

package probe

import (
	"fmt"
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
			req := wire.RTT{Peer: p.peer, Probes: 20, IntervalMs: 5, WaitMs: 20_000, DeadlineMs: deadlineMs, Path: true}
			again(t, func() (wrong string) { // what is not answered soon is taken for lost
				r := await(t, p.from.ask(wire.Request{RTT: &req}))
				if r.Error != "" || r.RTT.Path == nil || r.RTT.Counts == nil {
					t.Fatalf("%+v, %q", r.RTT, r.Error)
				}
				got := *r.RTT.Path
				if got.FromAddressKind != wire.AddressPrivate || got.ToAddressKind != wire.AddressPrivate {
					t.Errorf("%+v", got)
				}
				least := 2 * inMs(c.path.delay)
				switch {
				case got.MTUBytes != c.want:
					return fmt.Sprintf("MTU %d, want %d", got.MTUBytes, c.want)
				case got.TCPConnectMs <= least || got.ICMPP50Ms <= least: // the agents are root
					return fmt.Sprintf("TCP connect %v ms, ICMP %v ms; want more than %v", got.TCPConnectMs, got.ICMPP50Ms, least)
				case r.RTT.OneWay == nil || r.RTT.OneWay.ErrorMs <= 0:
					return fmt.Sprintf("one way: %+v", r.RTT.OneWay)
				}
				t.Logf("%+v %+v %+v %+v", *r.RTT, got, *r.RTT.OneWay, *r.RTT.Counts)
				return ""
			})
		})
	}
}

// TestPathFactsOfADeadPath: nothing is waited for where nothing answers.
func TestPathFactsOfADeadPath(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{most: 1}) // the control connection is not opened either
	req := wire.RTT{Peer: p.peer, Probes: 3, IntervalMs: 1, WaitMs: 10, DeadlineMs: 500, Path: true}
	r := await(t, p.from.ask(wire.Request{RTT: &req}))
	wantFailure(t, r, "open control connection")
}

func TestPathFactsOfLoopback(t *testing.T) {
	_, peer := startServer(t)
	r, err := NewClient(testSecret).RTT(t.Context(), wire.RTT{Peer: peer, Probes: 10, IntervalMs: 1, WaitMs: 30_000, DeadlineMs: deadlineMs, Path: true})
	must(t, err)
	if f := r.Path; f.FromAddressKind != wire.AddressLoopback || f.ToAddressKind != wire.AddressLoopback || f.TCPConnectMs <= 0 {
		t.Errorf("%+v", *f)
	}
}
