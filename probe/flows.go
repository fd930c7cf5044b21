//go:build linux

package probe

import (
	"context"
	"errors"
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// Limits of a second test with two flows.
const (
	leastCheck  = time.Second
	mostCheck   = 8 * time.Second
	checkRounds = 24                     // slow start from ten segments to a gigabyte, and the rule's rounds
	leastLeft   = 500 * time.Millisecond // of the deadline, for its end
)

var errChecked = errors.New("two flows were enough")

// checkFlows tells a cap of each flow from one of the path: two flows, begun
// together in a session of their own, are watched until they have or have not
// brought more than the one of the test. Starting both anew costs less than
// having a second one catch up with the first, which would go on at full rate.
// They move no more bytes than the test did. A check that fails changes nothing:
// the test is done.
func (c *Client) checkFlows(ctx context.Context, one *sender, r *wire.ThroughputResult) {
	part := one.steady()
	length := min(max(leastCheck, checkRounds*one.log[part.To].SRTT), mostCheck)
	if by, bounded := ctx.Deadline(); bounded {
		length = min(length, time.Until(by)-leastLeft)
	}
	if r.LimitedBy != trace.LimitRateCap || one.limit.Options.PacingBps > 0 || one.limit.Options.RateBps > 0 || length <= 0 {
		return
	}
	req := one.limit
	req.Streams, req.Bytes, req.DurationMs = 2, r.Bytes, float64(length.Milliseconds())
	req.ErrorRatio, req.LoadedIntervalMs, req.Options.ClientPort = 0, 0, 0
	rule := trace.NewFlowRule(one.log.Rate(part.From, part.To))
	began := time.Now()
	two, err := c.twoFlows(ctx, req, rule)
	if err != nil {
		r.LimitedByEvidence += "; a second flow could not be opened"
		return
	}
	r.FlowCheck = &wire.FlowCheck{Bytes: two.last.Sent, DurationS: time.Since(began).Seconds(), Ratio: rule.Ratio()}
	limit := rule.Refine(trace.Limit{By: r.LimitedBy, Evidence: r.LimitedByEvidence})
	r.LimitedBy, r.LimitedByEvidence = limit.By, limit.Evidence
}

// twoFlows runs until the rule knows, or the limits come. The error is nil if
// anything was sent.
func (c *Client) twoFlows(ctx context.Context, req wire.Throughput, rule *trace.FlowRule) (*sender, error) {
	t, err := c.openTest(ctx, req)
	if err != nil {
		return nil, err
	}
	defer t.close() // drops what the connections still hold
	t.watch = func(l trace.Log) {
		if rule.Enough(l) {
			t.cancel(errChecked)
		}
	}
	_, err = t.run()
	if t.sender == nil || t.sender.last.Sent == 0 {
		return nil, err
	}
	return t.sender, nil
}
