package orchestrator

import (
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/results"
)

// withPath adds what else was found beside the round trips; loaded is nil if
// none were measured beside the throughput.
func withPath(r results.Row, rtt, loaded *wire.RTTResult) results.Row {
	r.RTTStamps = rtt.Stamps
	if rtt.Stamps == wire.StampsKernel {
		r.RTTSendingMs = &rtt.SendingMs
	}
	if rtt.Stamps != "" {
		r.RTTUserP50Ms, r.RTTUserP99Ms = &rtt.UserP50Ms, &rtt.UserP99Ms
	}
	if c := rtt.Counts; c != nil {
		r.RTTLostForward, r.RTTLostBackward, r.RTTLate = whole(c.LostForward), whole(c.LostBackward), whole(c.Late)
		r.RTTReordered, r.RTTDuplicates = whole(c.Reordered), whole(c.Duplicates)
	}
	if way := rtt.OneWay; way != nil {
		r.OneWayDelayMs, r.OneWayErrorMs = &way.DelayMs, &way.ErrorMs
	}
	if loaded != nil {
		r.RTTLoadedP50Ms, r.RTTLoadedP99Ms = &loaded.P50Ms, &loaded.P99Ms
		r.RTTLoadedProbes = whole(loaded.Probes)
	}
	return withFacts(r, rtt.Path)
}

func withFacts(r results.Row, f *wire.PathFacts) results.Row {
	if f == nil {
		return r
	}
	if f.TCPConnectMs > 0 {
		r.TCPConnectMs = &f.TCPConnectMs
	}
	if f.ICMPP50Ms > 0 {
		r.RTTICMPP50Ms = &f.ICMPP50Ms
	}
	if f.MTUBytes > 0 {
		r.PathMTUBytes = whole(f.MTUBytes)
	}
	r.FromAddressKind, r.ToAddressKind = f.FromAddressKind, f.ToAddressKind
	return r
}
