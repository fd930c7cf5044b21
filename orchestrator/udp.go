package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/remote"
	"github.com/antipode-bench/antipode/results"
)

// UDPTest says how UDP throughput is measured, after each throughput test that
// went well.
type UDPTest struct {
	RateBps  float64       // of UDP payload; 0: not at all
	Duration time.Duration // of sending
}

func (u UDPTest) check() error {
	switch {
	case u == UDPTest{}:
		return nil
	case !(u.RateBps >= wire.MinRateBps && u.RateBps <= wire.MaxRateBps):
		return fmt.Errorf("a UDP rate of %v bit/s: not %v to %v", u.RateBps, wire.MinRateBps, wire.MaxRateBps)
	case u.Duration <= 0:
		return fmt.Errorf("%v of UDP: not above zero", u.Duration)
	}
	return nil
}

// udp sends datagrams on the way that a throughput test just took. That it
// brings nothing is no reason to give away what the others brought, so unless
// the test was cut short the error is kept apart.
func (t tester) udp(ctx context.Context, w *way, from, to *guest) {
	u := t.test.UDP
	resp, err := t.ask(ctx, from, u.Duration, wire.Request{UDP: &wire.UDP{
		Peer:       t.peer(to),
		RateBps:    u.RateBps,
		DurationMs: ms(u.Duration),
		Offload:    true,
		SampleMs:   sampleMs,
		DeadlineMs: ms(u.Duration + t.limits.Slack),
	}})
	if err == nil && resp.UDP == nil {
		err = errors.New("answer without a result")
	}
	if err == nil {
		w.udp = resp.UDP
		return
	}
	err = fmt.Errorf("udp: %w", err)
	if _, said := errors.AsType[*remote.RequestError](err); said && ctx.Err() == nil {
		w.udpErr = err
		return
	}
	w.err = err
}

// withUDP is a row with what UDP brought, if it was asked for.
func withUDP(r results.Row, w way) results.Row {
	switch u := w.udp; {
	case u != nil:
		r.UDPTargetBps, r.UDPGoodputBps, r.UDPPacketsPerS = &u.TargetBps, &u.GoodputBps, &u.PacketsPerS
		r.UDPDatagramBytes, r.UDPLossRatio = whole(u.DatagramBytes), &u.LossRatio
		r.UDPReordered, r.UDPDuplicates, r.UDPJitterMs = &u.Reordered, &u.Duplicates, &u.JitterMs
		r.UDPOffload = strconv.FormatBool(u.Offload)
	case w.udpErr != nil:
		return flagged(r, []string{results.FlagUDPFailed})
	}
	return r
}

// datagramBytes is the UDP payload that a task moved.
func (o outcome) datagramBytes() (bytes int64) {
	for _, w := range o.ways {
		if w.udp != nil {
			bytes += w.udp.Bytes
		}
	}
	return bytes
}
