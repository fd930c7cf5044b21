//go:build linux

package probe

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// TestUDP is between rates at which nothing may get lost on loopback.
func TestUDP(t *testing.T) {
	_, peer := startServer(t)
	tests := []struct {
		name string
		req  wire.UDP
		want wire.UDPResult
	}{
		{"bytes", wire.UDP{RateBps: 50e6, Bytes: 1_000_000},
			wire.UDPResult{DatagramBytes: 1448, Sent: 691, Received: 691, Bytes: 691 * 1448}},
		{"offload", wire.UDP{RateBps: 500e6, Bytes: 1_000_000, Offload: true},
			wire.UDPResult{DatagramBytes: 1448, Sent: 691, Received: 691, Bytes: 691 * 1448, Offload: true}},
		{"small", wire.UDP{RateBps: 1e6, DatagramBytes: wire.MinDatagramBytes, Bytes: 4800},
			wire.UDPResult{DatagramBytes: 24, Sent: 200, Received: 200, Bytes: 4800}},
		{"one by one", wire.UDP{RateBps: 64_000, DatagramBytes: 160, Bytes: 1600, Offload: true},
			wire.UDPResult{DatagramBytes: 160, Sent: 10, Received: 10, Bytes: 1600, Offload: true}},
		{"too large to be cut", wire.UDP{RateBps: 1e8, DatagramBytes: 60_000, Bytes: 600_000, Offload: true},
			wire.UDPResult{DatagramBytes: 60_000, Sent: 10, Received: 10, Bytes: 600_000}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.req.Peer, tt.req.DeadlineMs = peer, deadlineMs
			r, err := NewClient(testSecret).UDP(t.Context(), tt.req)
			must(t, err)
			tt.want.TargetBps = tt.req.RateBps
			figures := cmpopts.IgnoreFields(wire.UDPResult{}, "GoodputBps", "PacketsPerS", "JitterMs", "DurationS")
			if d := cmp.Diff(tt.want, *r, figures); d != "" {
				t.Error(d)
			}
			// Each waits for its moment, so none can be faster than asked, but
			// for the first one being late.
			if r.GoodputBps <= 0 || r.PacketsPerS <= 0 || r.DurationS <= 0 || r.JitterMs < 0 {
				t.Errorf("%+v", *r)
			}
		})
	}
}

// TestUDPAsFastAsItGoes has no rate to hold, only an end.
func TestUDPAsFastAsItGoes(t *testing.T) {
	_, peer := startServer(t)
	for _, offload := range []bool{false, true} {
		again(t, func() (wrong string) {
			r, err := NewClient(testSecret).UDP(t.Context(), wire.UDP{Peer: peer, DurationMs: 200, DeadlineMs: deadlineMs, Offload: offload})
			if err != nil {
				return err.Error()
			}
			if r.Received > r.Sent || r.Reordered != 0 || r.Duplicates != 0 || r.Offload != offload {
				t.Errorf("%+v", *r)
			}
			if r.Received < 1000 {
				return fmt.Sprintf("hardly anything arrives: %+v", *r)
			}
			return ""
		})
	}
}

// TestUDPBesideRoundTrips has both on one port: the packets of each must reach
// their own socket, also while those of the sessions come and go.
func TestUDPBesideRoundTrips(t *testing.T) {
	_, peer := startServer(t)
	client := NewClient(testSecret)
	var tests sync.WaitGroup
	for range 5 {
		tests.Go(func() {
			r, err := client.UDP(t.Context(), wire.UDP{Peer: peer, RateBps: 1e6, DatagramBytes: 100, Bytes: 20_000, DeadlineMs: deadlineMs})
			if err != nil || r.Received != 200 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	r, err := client.RTT(t.Context(), wire.RTT{Peer: peer, Probes: 300, IntervalMs: 1, WaitMs: 30_000, DeadlineMs: deadlineMs})
	must(t, err)
	if r.Received != 300 {
		t.Errorf("%+v", *r)
	}
	tests.Wait()
}

func TestUDPRefuses(t *testing.T) {
	_, peer := startServer(t)
	_, err := NewClient([]byte("another secret, of thirty-two by")).UDP(t.Context(), wire.UDP{Peer: peer, Bytes: 1000, DeadlineMs: deadlineMs})
	if err == nil || !strings.Contains(err.Error(), errStranger.Error()) {
		t.Errorf("a stranger gets %v", err)
	}
	r, err := NewClient(testSecret).UDP(t.Context(), wire.UDP{Peer: peer, Bytes: 1, DeadlineMs: deadlineMs})
	if err == nil || r != nil {
		t.Errorf("one datagram has a rate: %+v", r)
	}
}

// longUDP is a test that would take ten minutes.
func longUDP(peer wire.Peer, deadline time.Duration) wire.Request {
	return wire.Request{UDP: &wire.UDP{
		Peer: peer, RateBps: 1e6, DurationMs: 600_000, DeadlineMs: float64(deadline.Milliseconds()),
	}}
}

func wantPartialUDP(t *testing.T, r wire.Response) {
	t.Helper()
	if r.UDP == nil || r.UDP.Received == 0 || len(r.UDP.Flags) != 1 || r.UDP.Flags[0] != trace.FlagPartial {
		t.Errorf("what was seen was not kept: %+v, %s", r.UDP, r.Error)
	}
}

func TestUDPPeerKilled(t *testing.T) {
	t.Parallel()
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		from, to, peer := pair(t)
		answer := from.ask(longUDP(peer, never))
		time.Sleep(while)
		to.kill()
		return await(t, answer)
	})
	wantFailure(t, r, "peer ended")
	wantPartialUDP(t, r)
}

// TestUDPPeerSilent stops sending after silenceLimit, and gives up after twice
// as much.
func TestUDPPeerSilent(t *testing.T) {
	t.Parallel()
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		from, to, peer := pair(t)
		answer := from.ask(longUDP(peer, never))
		time.Sleep(while)
		to.stop()
		return await(t, answer)
	})
	wantFailure(t, r, "peer vanished: nothing received for")
	wantPartialUDP(t, r)
}

func TestUDPDeadline(t *testing.T) {
	t.Parallel()
	r := afterAWhile(t, func(while time.Duration) wire.Response {
		from, _, peer := pair(t)
		return await(t, from.ask(longUDP(peer, while)))
	})
	wantFailure(t, r, "deadline exceeded")
	wantPartialUDP(t, r)
}

// TestUDPClientGone leaves nothing of a session behind.
func TestUDPClientGone(t *testing.T) {
	t.Parallel()
	server, peer := startServer(t)
	from := startProcess(t, false)
	from.serve()
	from.ask(longUDP(peer, never))
	waitFor(t, func() bool { return server.echoes.knocks.count() > 0 })
	from.kill()
	waitFor(t, func() bool { return server.echoes.knocks.count() == 0 })
}
