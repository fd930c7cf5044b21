//go:build linux

package probe

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// TestPathAccuracy compares goodput with what the path is made to carry. The
// process that carries it competes for the CPU with everything else that runs.
func TestPathAccuracy(t *testing.T) {
	tests := []struct {
		congestion string
		mbps       float64
		delay      time.Duration
		req        wire.Throughput
	}{
		{"cubic", 20, 10 * time.Millisecond, wire.Throughput{DurationMs: 1500, Streams: 2}},
		{"bbr", 20, 10 * time.Millisecond, wire.Throughput{DurationMs: 1500, Streams: 1}},
		{"bbr", 40, 20 * time.Millisecond, wire.Throughput{Bytes: 6_000_000, Streams: 4}},
		{"bbr", 40, 10 * time.Millisecond, wire.Throughput{ErrorRatio: .05, DurationMs: 5000, Streams: 1}},
		{"cubic", 20, 10 * time.Millisecond, wire.Throughput{ErrorRatio: .05, DurationMs: 5000, Streams: 2}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %v Mbps %v", tt.congestion, tt.mbps, tt.delay), func(t *testing.T) {
			p := newPath(t, pathConfig{delay: tt.delay, mbps: tt.mbps})
			tt.req.Peer, tt.req.DeadlineMs, tt.req.CongestionControl = p.peer, deadlineMs, tt.congestion
			again(t, func() (wrong string) {
				got := p.throughput(t, tt.req)
				// 52 bytes of IP, TCP and time stamps ride with each segment.
				truth := tt.mbps * 1e6 * float64(got.MSSBytes) / float64(got.MSSBytes+52)
				if ratio := got.GoodputBps / truth; ratio < .9 || ratio > 1.05 {
					return fmt.Sprintf("goodput is %.3f of the truth", ratio)
				}
				return ""
			})
		})
	}
}

// throughput runs one test and checks what holds whatever the path does.
func (p *path) throughput(t *testing.T, req wire.Throughput) *wire.ThroughputResult {
	t.Helper()
	before := p.bytes.Load()
	r := await(t, p.from.ask(wire.Request{Throughput: &req}))
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	checkResult(t, req, r.Throughput)
	if carried := p.bytes.Load() - before; r.Throughput.Bytes > carried {
		t.Errorf("reports %d bytes, the path carried %d", r.Throughput.Bytes, carried)
	}
	return r.Throughput
}

// checkResult tests what holds for every complete result.
func checkResult(t *testing.T, req wire.Throughput, got *wire.ThroughputResult) {
	t.Helper()
	if req.Bytes > 0 && req.DurationMs == 0 && got.Bytes != req.Bytes {
		t.Errorf("bytes %d, want %d", got.Bytes, req.Bytes)
	}
	if got.Bytes <= 0 || got.DurationS <= 0 || got.GoodputBps <= 0 || got.MSSBytes < 500 {
		t.Errorf("not measured: %+v", *got)
	}
	if got.SlowStartBytes > got.Bytes || got.SlowStartS > got.DurationS || got.SlowStartBytes < 0 {
		t.Errorf("slow start beyond the test: %+v", *got)
	}
	checkStreams(t, got)
	if got.RetransmitRatio < 0 || got.RetransmitRatio > 1 {
		t.Errorf("retransmit ratio %v", got.RetransmitRatio)
	}
	if req.CongestionControl != "" && got.CongestionControl != req.CongestionControl {
		t.Errorf("congestion control %q, want %q", got.CongestionControl, req.CongestionControl)
	}
	stopped := []string{wire.StoppedDuration, wire.StoppedBytes, wire.StoppedSteady}
	if req.ErrorRatio == 0 {
		stopped = stopped[:2]
	}
	if !slices.Contains(stopped, got.StoppedBy) || got.GoodputErrorRatio < 0 {
		t.Errorf("stopped by %q, error ratio %v", got.StoppedBy, got.GoodputErrorRatio)
	}
	if got.Streams != req.Streams || got.LimitedBy == "" || got.LimitedByEvidence == "" {
		t.Errorf("streams %d, limited by %q: %q", got.Streams, got.LimitedBy, got.LimitedByEvidence)
	}
	if got.From == nil || got.To == nil || got.From.CPUs < 1 || got.To.CPUs < 1 {
		t.Errorf("machines: %+v and %+v", got.From, got.To)
	}
}

// checkStreams: the streams' parts make the whole.
func checkStreams(t *testing.T, got *wire.ThroughputResult) {
	t.Helper()
	var bytes int64
	goodput := 0.0
	for i, s := range got.PerStream {
		bytes += s.Bytes
		goodput += s.GoodputBps
		if s.Bytes < 0 || s.GoodputBps < 0 || s.RetransmitRatio < 0 || s.RetransmitRatio > 1 {
			t.Errorf("stream %d: %+v", i, s)
		}
	}
	if len(got.PerStream) != got.Streams || bytes != got.Bytes || math.Abs(goodput/got.GoodputBps-1) > 1e-6 {
		t.Errorf("%d streams of %d bytes at %v bit/s; all: %+v", len(got.PerStream), bytes, goodput, *got)
	}
}

func TestPathRTT(t *testing.T) {
	p := newPath(t, pathConfig{delay: 25 * time.Millisecond})
	req := wire.RTT{Peer: p.peer, Probes: 50, IntervalMs: 10, WaitMs: 20_000, DeadlineMs: deadlineMs}
	again(t, func() (wrong string) {
		r := await(t, p.from.ask(wire.Request{RTT: &req}))
		if r.Error != "" || r.RTT.Received != 50 || r.RTT.LossRatio != 0 || r.RTT.MinMs < 50 {
			t.Fatalf("got %+v, %q", r.RTT, r.Error)
		}
		if r.RTT.MinMs > 60 {
			return fmt.Sprintf("min %v ms; want 50 and little more", r.RTT.MinMs)
		}
		return ""
	})
	// A wait below the round trip: every answer is late, and late is lost.
	req.WaitMs, req.Probes = 20, 5
	r := await(t, p.from.ask(wire.Request{RTT: &req}))
	if r.Error == "" || r.RTT.Received != 0 || r.RTT.LossRatio != 1 {
		t.Errorf("late answers: got %+v, %q", r.RTT, r.Error)
	}
}

// TestAdaptive: a steady path is known long before its time is up, and the
// bytes of the rest are saved. A busy computer makes any path waver.
func TestAdaptive(t *testing.T) {
	p := newPath(t, pathConfig{delay: 10 * time.Millisecond, mbps: 20})
	req := wire.Throughput{Peer: p.peer, ErrorRatio: .1, DurationMs: 8000, Streams: 1, CongestionControl: "bbr", DeadlineMs: deadlineMs, SampleMs: 100}
	again(t, func() (wrong string) {
		got := p.throughput(t, req)
		if got.StoppedBy == wire.StoppedSteady && got.GoodputErrorRatio > .101 {
			t.Errorf("it stopped with an error ratio of %v", got.GoodputErrorRatio)
		}
		if got.StoppedBy != wire.StoppedSteady || got.DurationS > 5 {
			return fmt.Sprintf("stopped by %s after %.1f s, error ratio %v", got.StoppedBy, got.DurationS, got.GoodputErrorRatio)
		}
		return ""
	})
}
