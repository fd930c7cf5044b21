//go:build linux

package probe

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

func TestUDPFitsThePath(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{delay: 5 * time.Millisecond, mtu: 1000})
	req := wire.UDP{Peer: p.peer, RateBps: 4e6, Bytes: 100_000, Offload: true, DeadlineMs: deadlineMs}
	r := await(t, p.from.ask(wire.Request{UDP: &req}))
	if r.Error != "" || r.UDP.DatagramBytes != 1000-28 || r.UDP.Received != r.UDP.Sent {
		t.Errorf("%s, %+v", r.Error, r.UDP)
	}
	req.DatagramBytes = 973
	r = await(t, p.from.ask(wire.Request{UDP: &req}))
	if !strings.Contains(r.Error, "at most 972 do") {
		t.Errorf("%s, %+v", r.Error, r.UDP)
	}
}

// TestUDPOverTheRate sends five times what the path carries. Whatever was sent,
// each datagram was either dropped by the path or counted, those at the queue's
// end too, and they came as fast as the path let them through.
func TestUDPOverTheRate(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{delay: 5 * time.Millisecond, mbps: 4, queue: 300 * time.Millisecond})
	again(t, func() (wrong string) {
		p.datagrams.take()
		r := await(t, p.from.ask(wire.Request{UDP: &wire.UDP{Peer: p.peer, RateBps: 20e6, DurationMs: 1000, DeadlineMs: deadlineMs}}))
		if r.Error != "" {
			return r.Error
		}
		u, path := *r.UDP, p.datagrams.take()
		lost := u.Sent - u.Received
		if u.LossRatio != float64(lost)/float64(u.Sent) || u.Received > path.carried {
			t.Errorf("the path did %+v, the test says %+v", path, u)
		}
		switch {
		case path.dropped < path.carried/10:
			wrong = "hardly more was sent than the path carries"
		case lost != path.dropped || u.Received != path.carried:
			wrong = "some were lost elsewhere, or late"
		case math.Abs(u.GoodputBps/path.bps-1) > .05:
			wrong = "goodput is not what the path carried"
		default:
			return ""
		}
		return fmt.Sprintf("%s: the path did %+v, the test says %+v", wrong, path, u)
	})
}

// TestUDPIntoABlackHole is about paths that drop what is too large in silence.
func TestUDPIntoABlackHole(t *testing.T) {
	t.Parallel()
	p := newPath(t, pathConfig{delay: time.Millisecond, most: 1300})
	req := wire.UDP{Peer: p.peer, RateBps: 4e6, Bytes: 100_000, DeadlineMs: deadlineMs}
	r := await(t, p.from.ask(wire.Request{UDP: &req}))
	if r.Error != "" || r.UDP.DatagramBytes != smallDatagramBytes || r.UDP.Received != r.UDP.Sent {
		t.Errorf("%s, %+v", r.Error, r.UDP)
	}
	req.DatagramBytes = 1448
	r = await(t, p.from.ask(wire.Request{UDP: &req}))
	wantFailure(t, r, "UDP datagrams of 1448 bytes: none got through")
	if r.UDP != nil {
		t.Errorf("%+v", r.UDP)
	}
}
