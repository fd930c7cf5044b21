package orchestrator

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/results"
)

// TestWithPath: what was not found out leaves its cells empty.
func TestWithPath(t *testing.T) {
	for name, c := range map[string]struct {
		rtt, loaded *wire.RTTResult
		want        results.Row
	}{
		"nothing": {&wire.RTTResult{}, nil, results.Row{}},
		"no stamps": {&wire.RTTResult{Stamps: wire.StampsUser, UserP50Ms: 1, UserP99Ms: 2, Path: &wire.PathFacts{}}, nil,
			results.Row{RTTStamps: "user", RTTUserP50Ms: new(1.0), RTTUserP99Ms: new(2.0)}},
		"everything": {
			&wire.RTTResult{
				Stamps: wire.StampsKernel, SendingMs: .1, UserP50Ms: 1, UserP99Ms: 2,
				Counts: &wire.RTTCounts{LostForward: 1, LostBackward: 2, Late: 3, Reordered: 4, Duplicates: 5},
				OneWay: &wire.OneWay{DelayMs: 6, ErrorMs: 7},
				Path:   &wire.PathFacts{TCPConnectMs: 8, ICMPP50Ms: 9, MTUBytes: 1500, FromAddressKind: "nat", ToAddressKind: "public"},
			},
			&wire.RTTResult{P50Ms: 10, P99Ms: 11, Probes: 12},
			results.Row{
				RTTStamps: "kernel", RTTSendingMs: new(.1), RTTUserP50Ms: new(1.0), RTTUserP99Ms: new(2.0),
				RTTLostForward: new(int64(1)), RTTLostBackward: new(int64(2)), RTTLate: new(int64(3)),
				RTTReordered: new(int64(4)), RTTDuplicates: new(int64(5)), OneWayDelayMs: new(6.0), OneWayErrorMs: new(7.0),
				TCPConnectMs: new(8.0), RTTICMPP50Ms: new(9.0), PathMTUBytes: new(int64(1500)),
				FromAddressKind: "nat", ToAddressKind: "public",
				RTTLoadedP50Ms: new(10.0), RTTLoadedP99Ms: new(11.0), RTTLoadedProbes: new(int64(12)),
			},
		},
	} {
		if d := cmp.Diff(c.want, withPath(results.Row{}, c.rtt, c.loaded)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
