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

// totals is TCP_INFO of one stream, or of all streams of a test added up. Its
// counts begin with the connections.
type totals struct {
	trace.Sample
	hungry          bool  // every stream has unsent bytes queued
	segments, again int64 // data segments sent, and of these retransmitted
	mss             int   // bytes, of the first stream
}

// totals asks the kernel about each stream, and adds up.
func (s *sender) totals() (all totals, each []totals, err error) {
	each = make([]totals, len(s.conns))
	for i, conn := range s.conns {
		info, err := tcpInfo(conn)
		if err != nil {
			return all, nil, err
		}
		each[i] = totalsOf(info)
		each[i].SendBuffer = s.sendMemory.payload(conn, each[i].Unacked+each[i].Unsent)
	}
	return sum(each), each, nil
}

func totalsOf(info *unix.TCPInfo) totals {
	mss := int64(info.Snd_mss)
	return totals{
		Sample: trace.Sample{
			Acked:            int64(info.Bytes_acked),
			Sacked:           int64(info.Sacked) * mss,
			Sent:             int64(info.Bytes_sent),
			Repeated:         int64(info.Bytes_retrans),
			SRTT:             microseconds(info.Rtt),
			MinRTT:           microseconds(info.Min_rtt),
			Window:           int64(info.Snd_cwnd) * mss,
			PeerWindow:       int64(info.Snd_wnd),
			Unacked:          int64(info.Unacked) * mss,
			Unsent:           int64(info.Notsent_bytes),
			Busy:             microseconds(info.Busy_time),
			ReceiveWindowFor: microseconds(info.Rwnd_limited),
			SendBufferFor:    microseconds(info.Sndbuf_limited),
			Whole:            info.Sacked == 0 && !repairing(info),
		},
		hungry:   info.Notsent_bytes > 0,
		segments: int64(info.Data_segs_out),
		again:    int64(info.Total_retrans),
		mss:      int(info.Snd_mss),
	}
}

// sum adds bytes and segments up, and takes the mean of times.
func sum(each []totals) totals {
	all := each[0]
	for _, t := range each[1:] {
		all.Acked += t.Acked
		all.Sacked += t.Sacked
		all.Sent += t.Sent
		all.Repeated += t.Repeated
		all.SRTT += t.SRTT
		all.MinRTT = min(all.MinRTT, t.MinRTT)
		all.Window += t.Window
		all.PeerWindow += t.PeerWindow
		all.Unacked += t.Unacked
		all.Unsent += t.Unsent
		all.SendBuffer += t.SendBuffer
		all.Busy += t.Busy
		all.ReceiveWindowFor += t.ReceiveWindowFor
		all.SendBufferFor += t.SendBufferFor
		all.hungry = all.hungry && t.hungry
		all.Whole = all.Whole && t.Whole
		all.segments += t.segments
		all.again += t.again
	}
	n := time.Duration(len(each))
	all.SRTT /= n
	all.Busy /= n
	all.ReceiveWindowFor /= n
	all.SendBufferFor /= n
	return all
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
func (s *sender) sample(ctx context.Context, counted <-chan struct{}) {
	began := time.Now()
	s.log = trace.Log{{SRTT: s.last.SRTT, MinRTT: s.last.MinRTT, Fed: true, Whole: true}}
	base := s.last
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
		all, each, err := s.totals()
		if err != nil {
			return // the connections are closed: whoever did it knows why
		}
		at := time.Since(began)
		s.last = all
		s.streams.add(at, each)
		s.limitBacklog()
		sample := all.since(base, at)
		sample.Fed = all.hungry || s.writing.Load() == int64(len(s.conns))
		s.log = append(s.log, sample)
		if s.watch != nil {
			s.watch(s.log)
		}
		if s.rule != nil && s.stopped == "" && s.rule.Enough(s.log) {
			s.enough()
		}
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

// maxSamples of a result, and as many of its single streams together, fit in
// wire.MaxLine in any case.
const maxSamples = 1600

// result turns what both sides saw into figures.
func (s *sender) result(err error) (*wire.ThroughputResult, error) {
	whole := count{Bytes: s.received.last().Bytes, SpanUs: s.received.last().At.Microseconds()}
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
		CongestionControl: s.congestion,
		RetransmitRatio:   s.last.retransmitRatio(),
	}
	r.Asked, r.Granted = s.limit.Options, s.granted()
	s.fillSteady(r, whole)
	s.fillLimit(r)
	if r.StoppedBy = s.stoppedBy(err); s.rule != nil && err == nil {
		r.Flags = s.rule.Flags(s.log, r.Flags, r.StoppedBy == wire.StoppedSteady)
	}
	if trace.Bursting(r.GoodputBps, s.limit.BaselineBps) {
		r.Flags = append(r.Flags, trace.FlagBurst)
	}
	if s.limit.SampleMs > 0 {
		s.fillSamples(r, wire.Duration(s.limit.SampleMs))
	}
	if err != nil {
		r.Flags = append(r.Flags, trace.FlagPartial)
	}
	return r, err
}

// stoppedBy is what ended a test that was not cut short by an error.
func (s *sender) stoppedBy(err error) string {
	switch {
	case err != nil:
		return ""
	case s.stopped != "":
		return s.stopped
	case s.limit.Bytes > 0 && s.budget.Load() <= 0:
		return wire.StoppedBytes
	}
	return wire.StoppedDuration
}

// steady is the part that the rule has judged, where it ended the test.
func (s *sender) steady() trace.Part {
	if s.stopped == wire.StoppedSteady {
		return s.rule.Part(s.log)
	}
	return s.log.Steady()
}

// fillSteady sets the goodput of the steady part, of all streams and of each,
// and what came before it.
func (s *sender) fillSteady(r *wire.ThroughputResult, whole count) {
	p := s.steady()
	r.Flags = append(r.Flags, s.log.Flags(p)...)
	counted := s.received.last().Bytes
	from, to := min(s.log[p.From].Acked, counted), min(s.log[p.To].Acked, counted)
	begin, end := s.received.passed(from), s.received.passed(to)
	if end-begin < 2*s.every || to <= from { // the test is too short to have parts
		r.GoodputBps = r.GoodputMeanBps
		r.PerStream = s.streams.results(whole.Streams, 0, s.log[len(s.log)-1].At, r.GoodputBps)
		return
	}
	r.GoodputErrorRatio = s.log.ErrorRatio(p)
	r.GoodputBps = bps(to-from, end-begin)
	if !s.log.Whole(p) {
		// The receiver's application lags behind what its kernel holds: count
		// what the kernel has acknowledged, beyond holes too.
		r.GoodputBps = 8 * s.log.Rate(p.From, p.To)
	}
	r.SlowStartBytes, r.SlowStartS, r.SteadyS = from, begin.Seconds(), (end - begin).Seconds()
	r.PerStream = s.streams.results(whole.Streams, s.log[p.From].At, s.log[p.To].At, r.GoodputBps)
}

// fillSamples sets what the kernel said, and what the receiver had by then.
func (s *sender) fillSamples(r *wire.ThroughputResult, every time.Duration) {
	r.Samples = s.log.AtMost(maxSamples, every)
	for _, sample := range r.Samples {
		r.Received = append(r.Received, s.received.at(sample.At))
	}
	if n := len(s.conns); n > 1 {
		for _, log := range s.streams.logs {
			r.StreamSamples = append(r.StreamSamples, log.AtMost(maxSamples/n, every))
		}
	}
}

func bps(bytes int64, span time.Duration) float64 { return float64(bytes) * 8 / span.Seconds() }
