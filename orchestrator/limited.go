package orchestrator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/results"
)

// limited fills what a row says of why its goodput is what it is.
func limited(r results.Row, t *wire.ThroughputResult) results.Row {
	r.LimitedBy = cmp.Or(t.LimitedBy, "unknown")
	r.LimitedByEvidence = t.LimitedByEvidence
	if t.WindowCeilingBps > 0 {
		r.WindowCeilingBps = &t.WindowCeilingBps
	}
	if c := t.FlowCheck; c != nil {
		r.FlowCheckBytes, r.FlowCheckRatio = &c.Bytes, &c.Ratio
	}
	var exceeded []string
	if h := t.From; h != nil {
		r.FromCPURatio, r.FromStealRatio = &h.CPURatio, &h.StealRatio
		r.FromSoftnetDrops, r.FromNICDriver = &h.SoftnetDrops, h.NICDriver
		exceeded = counters("from", h.NICExceeded)
	}
	if h := t.To; h != nil {
		r.ToCPURatio, r.ToStealRatio = &h.CPURatio, &h.StealRatio
		r.ToSoftnetDrops, r.ToNICDriver = &h.SoftnetDrops, h.NICDriver
		exceeded = append(exceeded, counters("to", h.NICExceeded)...)
	}
	r.NICExceeded = strings.Join(exceeded, ";")
	return r
}

// counters writes counts of a network card in the order of their names.
func counters(end string, counts map[string]int64) (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		texts = append(texts, fmt.Sprintf("%s:%s=%d", end, name, counts[name]))
	}
	return texts
}
