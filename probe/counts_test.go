//go:build linux

package probe

import (
	"fmt"
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
	req := wire.RTT{Peer: p.peer, Probes: 50, IntervalMs: 10, WaitMs: 2000, DeadlineMs: deadlineMs}
	want := wire.RTTCounts{LostForward: 5, LostBackward: 5, Reordered: 10, Duplicates: 10}
	// Who pauses between two packets keeps their order, and is late with answers.
	again(t, func() (wrong string) {
		r := await(t, p.from.ask(wire.Request{RTT: &req}))
		if r.Error != "" || r.RTT.Counts == nil {
			return fmt.Sprintf("%+v, %q", r.RTT, r.Error)
		}
		if d := cmp.Diff(want, *r.RTT.Counts); d != "" || r.RTT.Received != 40 || r.RTT.LossRatio != .2 {
			return fmt.Sprintf("%d received, %v lost (-want +got):\n%s", r.RTT.Received, r.RTT.LossRatio, d)
		}
		if r.RTT.Stamps != wire.StampsKernel {
			return fmt.Sprintf("times are by %q", r.RTT.Stamps)
		}
		return ""
	})
}
