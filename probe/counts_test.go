//go:build linux

package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/probe/wire"
)

// fate says by how much each copy of an IP packet is delayed; none: it is lost.
type fate func(ip []byte) []time.Duration

const probeAt = 20 + 8 // in an IP packet

func isProbe(ip []byte) bool {
	return len(ip) == probeAt+packetBytes && string(ip[probeAt:probeAt+len(packetMagic)]) == packetMagic
}

// TestCounts: of ten queries one is lost, one comes twice and one late, and of
// their answers others.
func TestCounts(t *testing.T) {
	t.Parallel()
	const late = 300 * time.Millisecond
	fates := map[byte]map[uint32][]time.Duration{
		packetQuery:  {3: {}, 5: {0, 0}, 7: {late}},
		packetAnswer: {1: {}, 6: {0, 0}, 8: {late}},
	}
	p := newPath(t, pathConfig{delay: time.Millisecond, fate: func(ip []byte) []time.Duration {
		packet, err := parsePacket(ip[probeAt:])
		if err != nil {
			return nil
		}
		if copies, ok := fates[packet.kind][packet.seq%10]; ok {
			return copies
		}
		return []time.Duration{0}
	}})
	req := wire.RTT{Peer: p.peer, Probes: 50, IntervalMs: 10, WaitMs: 2000, DeadlineMs: 30_000}
	r := await(t, p.from.ask(wire.Request{RTT: &req}), 40*time.Second)
	if r.Error != "" || r.RTT.Counts == nil {
		t.Fatalf("%+v, %q", r.RTT, r.Error)
	}
	want := wire.RTTCounts{LostForward: 5, LostBackward: 5, Reordered: 10, Duplicates: 10}
	if d := cmp.Diff(want, *r.RTT.Counts); d != "" || r.RTT.Received != 40 || r.RTT.LossRatio != .2 {
		t.Errorf("%d received, %v lost (-want +got):\n%s", r.RTT.Received, r.RTT.LossRatio, d)
	}
	if r.RTT.Stamps != wire.StampsKernel {
		t.Errorf("times are by %q", r.RTT.Stamps)
	}
}
