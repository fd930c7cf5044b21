package orchestrator

import (
	"math"
	"strings"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/results"
)

// newRow fills what is known of a pair before it is measured: the ends as far
// as their machines came.
func newRow(cfg Config, p plan.Pair, from, to providers.Machine, began time.Time) results.Row {
	return results.Row{
		RunID:       cfg.RunID,
		Timestamp:   began.UTC().Format("2006-01-02T15:04:05.000Z"),
		FromCloud:   p.From.Cloud,
		FromRegion:  p.From.Name,
		FromZone:    from.Zone,
		FromMachine: from.Type,
		ToCloud:     p.To.Cloud,
		ToRegion:    p.To.Name,
		ToZone:      to.Zone,
		ToMachine:   to.Type,
		DistanceKm:  distance(p),
		Path:        cfg.Choice.path(),
		IPVersion:   cfg.Choice.version(),
		NetworkTier: cfg.Choice.tier(p),
	}
}

// isolationFlags say that other tests had a part of what the machines can do.
func (c Config) isolationFlags() []string {
	if c.Isolation == plan.None {
		return []string{results.FlagConcurrent}
	}
	return nil
}

// machineFlags are what the row says of the machines at its ends.
func machineFlags(from, to providers.Machine) []string {
	if from.Spot || to.Spot {
		return []string{results.FlagSpot}
	}
	return nil
}

// distance is nil between places of which one is not known.
func distance(p plan.Pair) *float64 {
	km := antipode.DistanceKm(p.From, p.To)
	if math.IsNaN(km) {
		return nil
	}
	return &km
}

// without is a row of a pair that was not measured.
func without(r results.Row, status, reason string) results.Row {
	r.Status, r.Error = status, line(reason)
	return r
}

// with is a row with both measurements.
func with(r results.Row, rtt *wire.RTTResult, t *wire.ThroughputResult) results.Row {
	r.Status = results.StatusOK
	r.RTTMinMs, r.RTTMeanMs = &rtt.MinMs, &rtt.MeanMs
	r.RTTP50Ms, r.RTTP99Ms = &rtt.P50Ms, &rtt.P99Ms
	r.RTTStddevMs, r.RTTLossRatio = &rtt.StddevMs, &rtt.LossRatio
	r.RTTProbes = whole(rtt.Probes)
	r.GoodputBps, r.GoodputMeanBps = &t.GoodputBps, &t.GoodputMeanBps
	r.Bytes, r.DurationS = &t.Bytes, &t.DurationS
	r.Streams, r.MSSBytes = whole(t.Streams), whole(t.MSSBytes)
	r.CongestionControl = t.CongestionControl
	r.RetransmitRatio = &t.RetransmitRatio
	r.StoppedBy = t.StoppedBy
	if t.GoodputErrorRatio > 0 {
		r.GoodputErrorRatio = &t.GoodputErrorRatio
	}
	return flagged(limited(r, t), t.Flags)
}

func flagged(r results.Row, flags []string) results.Row {
	r.Flags = strings.Trim(r.Flags+";"+strings.Join(flags, ";"), ";")
	return r
}

func whole(n int) *int64 {
	wide := int64(n)
	return &wide
}
