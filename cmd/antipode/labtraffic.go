package main

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/gocarina/gocsv"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/results"
)

// From which share of late packets on a row is flagged. Held against the truth
// under several loads, goodput was off by 4 % at most where 2 % of the segments
// were late, and round-trip times by half a millisecond where 10 % of the
// datagrams were; both were far off beyond.
const (
	lateSegments  = 0.05 // of one direction
	lateDatagrams = 0.10 // of both
)

// traffic is what a lab's router has counted.
type traffic struct {
	Pairs []struct {
		From, To  string
		Delivered struct {
			Packets      int64
			Datagrams    int64
			Bytes        int64
			PayloadBytes int64 `json:"payload_bytes"`
		}
		Copied  int64
		Dropped struct{ Rule, Queue, Loss, Link, Policer, MTU int64 }
		Late    struct{ Datagrams, Segments int64 }
	}
}

// delivered is a line of delivered.csv: what the router carried from one
// region to another during the run.
type delivered struct {
	FromCloud      string `csv:"from_cloud"`
	FromRegion     string `csv:"from_region"`
	ToCloud        string `csv:"to_cloud"`
	ToRegion       string `csv:"to_region"`
	Packets        int64  `csv:"packets"`       // as segments on the wire
	Datagrams      int64  `csv:"datagrams"`     // those of UDP
	Bytes          int64  `csv:"bytes"`         // from the IP header on
	PayloadBytes   int64  `csv:"payload_bytes"` // of TCP, repeats included
	DroppedByRule  int64  `csv:"dropped_by_rule"`
	DroppedByQueue int64  `csv:"dropped_by_queue"`
	DroppedByLoss  int64  `csv:"dropped_by_loss"`
	DroppedAtLink  int64  `csv:"dropped_at_link"`
	LateDatagrams  int64  `csv:"late_datagrams"` // this computer was too busy to deliver them in time
	LateSegments   int64  `csv:"late_segments"`  // the same, of TCP

	DroppedByPolicer int64 `csv:"dropped_by_policer"`
	DroppedByMTU     int64 `csv:"dropped_by_mtu"`
	Copied           int64 `csv:"copied"` // packets that the path duplicated; both are counted as delivered
}

func (v *venue) traffic(ctx context.Context) (t traffic, err error) {
	data, err := v.lab.Counts(ctx)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(data, &t)
}

// between leaves the traffic of a pair, both ways.
func (t traffic) between(p plan.Pair) (some traffic) {
	for _, c := range t.Pairs {
		if c.From == p.From.ID() && c.To == p.To.ID() || c.From == p.To.ID() && c.To == p.From.ID() {
			some.Pairs = append(some.Pairs, c)
		}
	}
	return some
}

// delivered is what the router counted since the sweep began.
func (v *venue) delivered(ctx context.Context, _ *lab.Lab) ([]byte, error) {
	now, err := v.traffic(ctx)
	if err != nil {
		return nil, err
	}
	data, err := gocsv.MarshalBytes(now.since(v.before))
	return data, err
}

func (t traffic) since(before traffic) []delivered {
	lines := map[[2]string]delivered{}
	add := func(t traffic, sign int64) {
		for _, p := range t.Pairs {
			if p.From == "" || p.To == "" {
				continue // the controller's own
			}
			d := lines[[2]string{p.From, p.To}]
			d.FromCloud, d.FromRegion, _ = antipode.SplitID(p.From)
			d.ToCloud, d.ToRegion, _ = antipode.SplitID(p.To)
			d.Packets += sign * p.Delivered.Packets
			d.Datagrams += sign * p.Delivered.Datagrams
			d.Bytes += sign * p.Delivered.Bytes
			d.PayloadBytes += sign * p.Delivered.PayloadBytes
			d.DroppedByRule += sign * p.Dropped.Rule
			d.DroppedByQueue += sign * p.Dropped.Queue
			d.DroppedByLoss += sign * p.Dropped.Loss
			d.DroppedAtLink += sign * p.Dropped.Link
			d.LateDatagrams += sign * p.Late.Datagrams
			d.LateSegments += sign * p.Late.Segments
			d.DroppedByPolicer += sign * p.Dropped.Policer
			d.DroppedByMTU += sign * p.Dropped.MTU
			d.Copied += sign * p.Copied
			lines[[2]string{p.From, p.To}] = d
		}
	}
	add(t, 1)
	add(before, -1)
	var list []delivered
	for _, d := range lines {
		if d.Packets > 0 || d.DroppedByRule > 0 {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b delivered) int {
		return cmp.Or(cmp.Compare(a.FromCloud, b.FromCloud), cmp.Compare(a.FromRegion, b.FromRegion),
			cmp.Compare(a.ToCloud, b.ToCloud), cmp.Compare(a.ToRegion, b.ToRegion))
	})
	return list
}

// remarks gives a row its flag when the lab was not exact; nil for clouds.
func (v *venue) remarks() func(plan.Pair) []string {
	if v.lab == nil {
		return nil
	}
	return v.exactness
}

// exactness is how exact the lab was with a pair, as flags of its row. A lab
// that does not answer ends the run by itself.
func (v *venue) exactness(p plan.Pair) []string {
	ctx, cancel := context.WithTimeout(context.Background(), labTimeout)
	defer cancel()
	var now traffic
	data, err := v.lab.CountsBetween(ctx, p.From.ID(), p.To.ID())
	if err == nil {
		err = json.Unmarshal(data, &now)
	}
	if err != nil || !late(now.since(v.before.between(p)), p) {
		return nil
	}
	return []string{results.FlagLabBusy}
}

// late says whether too many of a pair's packets, in either direction, were
// late for its figures to be exact.
func late(carried []delivered, p plan.Pair) bool {
	var datagrams, lateOnes int64
	for _, d := range carried {
		from, to := d.FromCloud+":"+d.FromRegion, d.ToCloud+":"+d.ToRegion
		if (from != p.From.ID() || to != p.To.ID()) && (from != p.To.ID() || to != p.From.ID()) {
			continue
		}
		if segments := d.Packets - d.Datagrams; float64(d.LateSegments) > lateSegments*float64(segments) {
			return true
		}
		datagrams += d.Datagrams
		lateOnes += d.LateDatagrams
	}
	return float64(lateOnes) > lateDatagrams*float64(datagrams)
}
