//go:build linux

package probe

import (
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

func TestUDPFitsThePath(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{delay: 5 * time.Millisecond, mtu: 1000})
	req := wire.UDP{Peer: p.peer, RateBps: 4e6, Bytes: 100_000, Offload: true, DeadlineMs: 20_000}
	r := await(t, p.from.ask(wire.Request{UDP: &req}), 25*time.Second)
	if r.Error != "" || r.UDP.DatagramBytes != 1000-28 || r.UDP.Received != r.UDP.Sent {
		t.Errorf("%s, %+v", r.Error, r.UDP)
	}
	req.DatagramBytes = 973
	r = await(t, p.from.ask(wire.Request{UDP: &req}), 25*time.Second)
	if !strings.Contains(r.Error, "at most 972 do") {
		t.Errorf("%s, %+v", r.Error, r.UDP)
	}
}

// TestUDPOverTheRate sends five times what the path carries: the loss is what
// is missing, and the queue's end still counts.
func TestUDPOverTheRate(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{delay: 5 * time.Millisecond, mbps: 4, queue: 300 * time.Millisecond})
	r := await(t, p.from.ask(wire.Request{UDP: &wire.UDP{Peer: p.peer, RateBps: 20e6, DurationMs: 1000, DeadlineMs: 30_000}}), 35*time.Second)
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	if u := r.UDP; u.LossRatio < .5 || u.LossRatio > .95 || u.GoodputBps > 4.2e6 || u.DurationS < 1 {
		t.Errorf("%+v", *u)
	}
}

// TestUDPIntoABlackHole is about paths that drop what is too large in silence.
func TestUDPIntoABlackHole(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{delay: time.Millisecond, most: 1300})
	req := wire.UDP{Peer: p.peer, RateBps: 4e6, Bytes: 100_000, DeadlineMs: 60_000}
	r := await(t, p.from.ask(wire.Request{UDP: &req}), 30*time.Second)
	if r.Error != "" || r.UDP.DatagramBytes != smallDatagramBytes || r.UDP.Received != r.UDP.Sent {
		t.Errorf("%s, %+v", r.Error, r.UDP)
	}
	req.DatagramBytes = 1448
	r = await(t, p.from.ask(wire.Request{UDP: &req}), trialLimit+15*time.Second)
	wantFailure(t, r, "UDP datagrams of 1448 bytes: none got through")
	if r.UDP != nil {
		t.Errorf("%+v", r.UDP)
	}
}
