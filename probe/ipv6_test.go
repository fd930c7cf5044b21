//go:build linux

package probe

import (
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/antipode-bench/antipode/probe/wire"
)

// TestBothFamilies: one listener, on which everything is measured over IPv4 and
// over IPv6. It has a namespace of its own, which has both whatever the
// computer's settings are.
func TestBothFamilies(t *testing.T) {
	needRoot(t)
	p := startProcess(t, true)
	raiseLoopback(t, p.cmd.Process.Pid)
	port := p.serve()
	for _, addr := range []string{"127.0.0.1", "::1"} {
		t.Run(addr, func(t *testing.T) {
			peer := wire.Peer{Addr: addr, Port: port}
			ask := func(req wire.Request) wire.Response {
				r := await(t, p.ask(req))
				if r.Error != "" {
					t.Fatal(r.Error)
				}
				return r
			}
			rtt := ask(wire.Request{RTT: &wire.RTT{Peer: peer, Probes: 50, IntervalMs: 1, WaitMs: 30_000, DeadlineMs: deadlineMs}}).RTT
			if rtt.Received != 50 || rtt.MinMs <= 0 || rtt.MinMs > rtt.P50Ms {
				t.Errorf("round trips: %+v", *rtt)
			}
			udp := ask(wire.Request{UDP: &wire.UDP{Peer: peer, RateBps: 1e8, Bytes: 200_000, Offload: true, DeadlineMs: deadlineMs}}).UDP
			if udp.Received != udp.Sent || udp.Bytes < 200_000 {
				t.Errorf("UDP: %+v", *udp)
			}
			for _, reverse := range []bool{false, true} {
				req := wire.Throughput{Peer: peer, Bytes: 1_000_000, Streams: 2, DeadlineMs: deadlineMs, Reverse: reverse, Options: wire.TCPOptions{DSCP: 10}}
				tcp := ask(wire.Request{Throughput: &req}).Throughput
				checkResult(t, req, tcp)
				if tcp.Granted.DSCP != 10 {
					t.Errorf("reverse %v: DSCP %d, want 10", reverse, tcp.Granted.DSCP)
				}
			}
		})
	}
}

// raiseLoopback makes a namespace that is new able to talk to itself.
func raiseLoopback(t *testing.T, pid int) {
	t.Helper()
	ns, err := netns.GetFromPid(pid)
	must(t, err)
	defer ns.Close()
	inside, err := netlink.NewHandleAt(ns)
	must(t, err)
	defer inside.Close()
	lo, err := inside.LinkByName("lo")
	must(t, err)
	must(t, inside.LinkSetUp(lo))
}
