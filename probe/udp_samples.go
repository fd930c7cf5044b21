//go:build linux

package probe

import (
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// note remembers how much was sent, a while apart.
func (s *udpSender) note(at time.Duration) {
	if at-s.noted.last().At >= sampleInterval(wire.Duration(s.req.DeadlineMs)) || len(s.noted) == 0 {
		s.noted = append(s.noted, point{At: at, Bytes: s.sent})
	}
}

// keep remembers what the peer had counted at a moment, if samples are wanted:
// of the counts that come each newsInterval one in so many, and fewer when they
// get too many.
func (s *udpSender) keep(c udpCount, final bool) {
	if s.every == 0 || c.Datagrams == 0 {
		return
	}
	if s.came++; s.came%s.every != 0 && !final {
		return
	}
	s.counts = append(s.counts, c)
	if len(s.counts) < maxSamples || final {
		return
	}
	s.every *= 2
	for i := range maxSamples / 2 {
		s.counts[i] = s.counts[2*i+1]
	}
	s.counts = s.counts[:maxSamples/2]
}

// samples are the peer's counts until the sending ended, the last one once all
// that came had come, and beside each what was sent as long after the first
// datagram. Without an error no count is one that can't be.
func (s *udpSender) samples() ([]wire.UDPSample, error) {
	var all []wire.UDPSample
	ended := s.noted.last().At
	for i, c := range s.counts {
		if err := c.check(s.sent); err != nil {
			return nil, err
		}
		at := time.Duration(c.AtNs)
		if at > ended && i < len(s.counts)-1 {
			continue
		}
		all = append(all, wire.UDPSample{
			AtUs: at.Microseconds(), Sent: max(c.Next, s.noted.at(at)), Received: c.Datagrams, ReceivedBytes: c.Bytes, Lost: c.Next - c.Datagrams,
			Reordered: c.Reordered, Duplicates: c.Duplicates, JitterUs: int64(c.JitterNs / 1e3),
		})
	}
	return all, nil
}
