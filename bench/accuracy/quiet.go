//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/lab/router/packet"
	"github.com/antipode-bench/antipode/probe/wire"
)

// Of the quiet tests.
const (
	sideBySide  = 8 // paths in one lab, whose round trips are measured at a time
	floods      = 4 // UDP tests at a time
	rttInterval = 5 * time.Millisecond
	udpMaxBps   = 50e6
)

// quietTests measures round trips, and counts datagrams, where that is missing.
func (t tools) quietTests(ctx context.Context, o options, records []*kept) error {
	var lack []*kept
	for _, k := range records {
		if k.RTT == nil || k.UDP == nil {
			lack = append(lack, k)
		}
	}
	done := 0
	for group := range slices.Chunk(lack, sideBySide) {
		fmt.Fprintf(os.Stderr, "quiet tests: %d of %d paths\n", done, len(lack))
		if err := t.quietGroup(ctx, o, group); err != nil {
			return err
		}
		done += len(group)
	}
	return nil
}

// quietGroup measures some paths in one lab: the round trips of all of them at a
// time, which is a few packets, then UDP.
func (t tools) quietGroup(ctx context.Context, o options, group []*kept) error {
	var paths []Path
	for _, k := range group {
		paths = append(paths, k.Path)
	}
	s, err := t.open(ctx, paths, Path.disturbed, false)
	if err != nil {
		for _, k := range group {
			if kept := k.keep(ctx, "lab", err, nil); kept != nil {
				return kept
			}
		}
		return nil
	}
	defer s.close() // what was measured is there: that the lab ends badly is no news of it
	if err := eachOf(s, group, sideBySide, func(pl *place, k *kept) error { return k.addRTT(ctx, o, pl) }); err != nil {
		return err
	}
	return eachOf(s, group, floods, func(pl *place, k *kept) error { return k.addUDP(ctx, o, pl) })
}

// eachOf does something at every place, at several at a time.
func eachOf(s *site, group []*kept, atOnce int, do func(*place, *kept) error) error {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, k := range group {
		g.Go(func() error { return do(s.places[i], k) })
	}
	return g.Wait()
}

func (k *kept) addRTT(ctx context.Context, o options, pl *place) error {
	if k.RTT != nil {
		return nil
	}
	measured, err := pl.rtt(ctx, o.probes)
	if err == nil {
		err = pl.punctual(ctx)
	}
	return k.keep(ctx, "rtt", err, func(r *record) { r.RTT = measured; r.note("lab", nil) })
}

func (k *kept) addUDP(ctx context.Context, o options, pl *place) error {
	if k.UDP != nil {
		return nil
	}
	counted, err := pl.udp(ctx, min(k.Path.capBps()/2, udpMaxBps), o.udp)
	return k.keep(ctx, "udp", err, func(r *record) { r.UDP = counted })
}

func (pl *place) rtt(ctx context.Context, probes int) (*wire.RTTResult, error) {
	nominal := time.Duration(probes) * rttInterval
	answer, err := pl.ask(ctx, wire.Request{RTT: &wire.RTT{
		Peer: pl.peer(), Probes: probes, IntervalMs: ms(rttInterval), WaitMs: 1000, DeadlineMs: ms(nominal + testSlack),
	}}, nominal)
	return answer.RTT, err
}

func (pl *place) udp(ctx context.Context, bps float64, nominal time.Duration) (*datagrams, error) {
	answer, err := pl.ask(ctx, wire.Request{UDP: &wire.UDP{
		Peer: pl.peer(), RateBps: bps, DurationMs: ms(nominal), DeadlineMs: ms(nominal + testSlack),
	}}, nominal)
	if err != nil {
		return nil, err
	}
	flow, err := pl.carried(ctx, packet.UDP)
	return &datagrams{Result: answer.UDP, Flow: &flow}, err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
