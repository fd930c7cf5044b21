//go:build linux

package probe

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// totals is TCP_INFO of all streams of a test, added up. Its counts begin with
// the connections.
type totals struct {
	trace.Sample
	hungry          bool  // every stream has unsent bytes queued
	segments, again int64 // data segments sent, and of these retransmitted
	mss             int   // bytes, of the first stream
}

func (s *sender) totals() (t totals, err error) {
	t.hungry, t.Whole = true, true
	n := time.Duration(len(s.conns))
	for i, conn := range s.conns {
		info, err := tcpInfo(conn)
		if err != nil {
			return t, err
		}
		if i == 0 {
			t.mss = int(info.Snd_mss)
		}
		mss := int64(info.Snd_mss)
		t.Acked += int64(info.Bytes_acked)
		t.Sacked += int64(info.Sacked) * mss
		t.Sent += int64(info.Bytes_sent)
		t.Repeated += int64(info.Bytes_retrans)
		t.SRTT += microseconds(info.Rtt) / n
		if rtt := microseconds(info.Min_rtt); t.MinRTT == 0 || rtt < t.MinRTT {
			t.MinRTT = rtt
		}
		t.Window += int64(info.Snd_cwnd) * mss
		t.PeerWindow += int64(info.Snd_wnd)
		t.Unacked += int64(info.Unacked) * mss
		t.Unsent += int64(info.Notsent_bytes)
		t.Busy += microseconds(info.Busy_time) / n
		t.ReceiveWindowFor += microseconds(info.Rwnd_limited) / n
		t.SendBufferFor += microseconds(info.Sndbuf_limited) / n
		t.hungry = t.hungry && info.Notsent_bytes > 0
		t.Whole = t.Whole && info.Sacked == 0 && !repairing(info)
		t.segments += int64(info.Data_segs_out)
		t.again += int64(info.Total_retrans)
	}
	return t, nil
}

func microseconds[T uint32 | uint64](us T) time.Duration {
	return time.Duration(us) * time.Microsecond
}

// since is the sample less what was counted before the test began.
func (t totals) since(base totals, at time.Duration) trace.Sample {
	s := t.Sample
	s.At = at
	s.Acked -= base.Acked
	s.Sent -= base.Sent
	s.Repeated -= base.Repeated
	s.Busy -= base.Busy
	s.ReceiveWindowFor -= base.ReceiveWindowFor
	s.SendBufferFor -= base.SendBufferFor
	return s
}

// Congestion states of tcpi_ca_state in which lost segments are sent again.
const (
	caRecovery = 3
	caLoss     = 4
)

func repairing(info *unix.TCPInfo) bool {
	return info.Ca_state == caRecovery || info.Ca_state == caLoss
}

// sample logs what the kernel says until the peer has counted everything or
// ctx ends.
func (s *sender) sample(ctx context.Context, base totals, counted <-chan struct{}) {
	began := time.Now()
	s.last = base
	s.log = trace.Log{{SRTT: base.SRTT, MinRTT: base.MinRTT, Fed: true, Whole: true}}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			return
		case <-counted:
			ended = true
		case <-tick.C:
		}
		t, err := s.totals()
		if err != nil {
			return // the connections are closed: whoever did it knows why
		}
		s.last = t
		s.limitBacklog()
		sample := t.since(base, time.Since(began))
		sample.Fed = t.hungry || s.writing.Load() == int64(len(s.conns))
		s.log = append(s.log, sample)
	}
}

const (
	// minBacklog a socket may always hold unsent, and backlogTime's worth of
	// its data when that is more. What is unsent at the end of a timed test
	// must still be sent, and says nothing that the test hasn't said.
	minBacklog  = 128 << 10 // bytes
	backlogTime = 100 * time.Millisecond
)

// limitBacklog follows the rate of the last round.
func (s *sender) limitBacklog() {
	last := len(s.log) - 1
	rate := s.log.Rate(s.log.Before(last, 1), last) / float64(len(s.conns))
	want := max(minBacklog, int(rate*backlogTime.Seconds()))
	if want < 2*s.backlog && want > s.backlog/2 {
		return
	}
	for _, conn := range s.conns {
		if err := setBacklog(conn, want); err != nil {
			return // closed: the test is over
		}
	}
	s.backlog = want
}

// maxSamples of a result fit in wire.MaxLine, in any case.
const maxSamples = 4000

// result turns what both sides saw into figures.
func (s *sender) result(err error) (*wire.ThroughputResult, error) {
	whole := count{Bytes: s.received.last().bytes, SpanUs: s.received.last().at.Microseconds()}
	if s.final != nil {
		whole = *s.final
	}
	if whole.Bytes == 0 || whole.SpanUs == 0 {
		if err == nil {
			err = errors.New("all bytes arrived at once: too few to measure a rate")
		}
		return nil, err
	}
	r := &wire.ThroughputResult{
		Bytes:             whole.Bytes,
		DurationS:         whole.span().Seconds(),
		GoodputMeanBps:    bps(whole.Bytes, whole.span()),
		Streams:           len(s.conns),
		MSSBytes:          s.last.mss,
		LimitedBy:         "unknown",
		CongestionControl: s.congestion,
	}
	if s.last.segments > 0 {
		r.RetransmitRatio = min(1, float64(s.last.again)/float64(s.last.segments))
	}
	s.fillSteady(r)
	if s.limit.SampleMs > 0 {
		r.Samples = s.log.AtMost(maxSamples, wire.Duration(s.limit.SampleMs))
	}
	if err != nil {
		r.Flags = append(r.Flags, trace.FlagPartial)
	}
	return r, err
}

// fillSteady sets the goodput of the steady part, and what came before it.
func (s *sender) fillSteady(r *wire.ThroughputResult) {
	p := s.log.Steady()
	r.Flags = append(r.Flags, s.log.Flags(p)...)
	counted := s.received.last().bytes
	from, to := min(s.log[p.From].Acked, counted), min(s.log[p.To].Acked, counted)
	begin, end := s.received.passed(from), s.received.passed(to)
	if end-begin < 2*s.every || to <= from {
		r.GoodputBps = r.GoodputMeanBps // the test is too short to have parts
		return
	}
	r.GoodputBps = bps(to-from, end-begin)
	if !s.log.Whole(p) {
		// The receiver's application lags behind what its kernel holds: count
		// what the kernel has acknowledged, beyond holes too.
		r.GoodputBps = 8 * s.log.Rate(p.From, p.To)
	}
	r.SlowStartBytes, r.SlowStartS = from, begin.Seconds()
}

func bps(bytes int64, span time.Duration) float64 { return float64(bytes) * 8 / span.Seconds() }
