//go:build linux

package probe

import (
	"errors"
	"fmt"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// result is what the peer counted of what was sent. With an error it is what is
// known by then, nil if nothing arrived.
func (s *udpSender) result(err error) (*wire.UDPResult, error) {
	s.mu.Lock()
	c := s.count
	s.mu.Unlock()
	if wrong := c.check(s.sent); wrong != nil {
		return nil, errors.Join(err, wrong)
	}
	if err == nil && c.Datagrams == 0 {
		err = fmt.Errorf("none of %d UDP datagrams arrived", s.sent)
	}
	if c.Datagrams == 0 {
		return nil, err
	}
	if c.SpanNs == 0 {
		return nil, errors.Join(err, fmt.Errorf("%d UDP datagrams that arrived in one moment have no rate", c.Datagrams))
	}
	samples, wrong := s.samples()
	if wrong != nil {
		return nil, errors.Join(err, wrong)
	}
	r := &wire.UDPResult{
		TargetBps:     s.req.RateBps,
		DatagramBytes: s.bytes,
		Sent:          s.sent,
		Received:      c.Datagrams,
		LossRatio:     float64(s.sent-c.Datagrams) / float64(s.sent),
		Reordered:     c.Reordered,
		Duplicates:    c.Duplicates,
		JitterMs:      c.JitterNs / 1e6,
		Bytes:         c.Bytes,
		DurationS:     float64(c.SpanNs) / 1e9,
		Offload:       s.out.segments > 1,
		Samples:       samples,
	}
	// The first arrival came before the span began.
	r.GoodputBps = 8 * float64(c.Bytes-c.FirstBytes) / r.DurationS
	r.PacketsPerS = float64(c.Datagrams-c.FirstDatagrams) / r.DurationS
	if err != nil || s.hushed.Load() {
		r.Flags = append(r.Flags, trace.FlagPartial)
	}
	return r, err
}
