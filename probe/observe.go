package probe

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/wire"
)

// totals is TCP_INFO of all streams of a test, added up.
type totals struct {
	acked, sacked   int64         // bytes
	srtt            time.Duration // mean
	hungry          bool          // every stream has unsent bytes queued
	whole           bool          // no stream has a hole or repairs one
	segments, again int64         // data segments sent, and of these retransmitted
	mss             int           // bytes, of the first stream
}

func (s *sender) totals() (t totals, err error) {
	t.hungry, t.whole = true, true
	for i, conn := range s.conns {
		info, err := tcpInfo(conn)
		if err != nil {
			return t, err
		}
		if i == 0 {
			t.mss = int(info.Snd_mss)
		}
		t.acked += int64(info.Bytes_acked)
		t.sacked += int64(info.Sacked) * int64(info.Snd_mss)
		t.srtt += time.Duration(info.Rtt) * time.Microsecond / time.Duration(len(s.conns))
		t.hungry = t.hungry && info.Notsent_bytes > 0
		t.whole = t.whole && info.Sacked == 0 && !repairing(info)
		t.segments += int64(info.Data_segs_out)
		t.again += int64(info.Total_retrans)
	}
	return t, nil
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
	s.log = sendLog{{srtt: base.srtt, busy: true, whole: true}}
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
		s.log = append(s.log, sendSample{
			at:     time.Since(began),
			acked:  t.acked - base.acked,
			sacked: t.sacked,
			srtt:   t.srtt,
			busy:   t.hungry || s.writing.Load() == int64(len(s.conns)),
			whole:  t.whole,
		})
	}
}

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
	if err != nil {
		r.Flags = append(r.Flags, wire.FlagPartial)
	}
	return r, err
}

// fillSteady sets the goodput of the steady part, and what came before it. The
// sender's byte marks are taken no further than the receiver has counted.
func (s *sender) fillSteady(r *wire.ThroughputResult) {
	p := s.log.steady()
	if !p.over {
		r.Flags = append(r.Flags, wire.FlagSlowStart)
	}
	counted := s.received.last().bytes
	from, to := min(s.log[p.from].acked, counted), min(s.log[p.to].acked, counted)
	begin, end := s.received.passed(from), s.received.passed(to)
	if end-begin < 2*s.every || to <= from {
		r.GoodputBps = r.GoodputMeanBps // the test is too short to have parts
		return
	}
	r.GoodputBps = bps(to-from, end-begin)
	r.SlowStartBytes, r.SlowStartS = from, begin.Seconds()
}

func bps(bytes int64, span time.Duration) float64 { return float64(bytes) * 8 / span.Seconds() }
