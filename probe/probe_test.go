//go:build linux

package probe

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

var testSecret = []byte("0123456789abcdef0123456789abcdef")

// startServer serves on loopback until the test ends.
func startServer(t testing.TB) (*Server, wire.Peer) {
	t.Helper()
	s, err := Listen(testSecret, 0)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			must(t, err)
		case <-time.After(patience):
			t.Error("Serve does not end")
		}
	})
	return s, wire.Peer{Addr: "127.0.0.1", Port: s.Port()}
}

// stillListener takes connections and says nothing.
func stillListener(t *testing.T) wire.Peer {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return wire.Peer{Addr: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port}
}

func TestThroughput(t *testing.T) {
	_, peer := startServer(t)
	tests := []struct {
		name string
		req  wire.Throughput
	}{
		{"bytes", wire.Throughput{Bytes: 20_000_000, Streams: 1}},
		{"bytes over many streams", wire.Throughput{Bytes: 20_000_001, Streams: wire.MaxStreams}},
		{"duration", wire.Throughput{DurationMs: 300, Streams: 3}},
		{"bytes first", wire.Throughput{Bytes: 5_000_000, DurationMs: 60_000, Streams: 2}},
		{"duration first", wire.Throughput{Bytes: wire.MaxBytes, DurationMs: 200, Streams: 2}},
		{"reno", wire.Throughput{DurationMs: 200, Streams: 2, CongestionControl: "reno"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Peer, tt.req.DeadlineMs = peer, deadlineMs
			r, err := NewClient(testSecret).Throughput(t.Context(), tt.req)
			must(t, err)
			if tt.req.DurationMs == 60_000 {
				tt.req.DurationMs = 0 // the bytes came first: all must be there
			}
			checkResult(t, tt.req, r)
			t.Logf("%+v", *r)
		})
	}
}

func TestBurstIsFlagged(t *testing.T) {
	_, peer := startServer(t)
	for baseline, want := range map[float64]bool{0: false, 1000: true, 1e13: false} {
		r, err := NewClient(testSecret).Throughput(t.Context(), wire.Throughput{
			Peer: peer, DurationMs: 100, Streams: 1, BaselineBps: baseline, DeadlineMs: deadlineMs,
		})
		must(t, err)
		if got := slices.Contains(r.Flags, trace.FlagBurst); got != want {
			t.Errorf("baseline %v: flags %v at %v bit/s", baseline, r.Flags, r.GoodputBps)
		}
	}
}

func TestTooFewBytes(t *testing.T) {
	_, peer := startServer(t)
	r, err := NewClient(testSecret).Throughput(t.Context(), wire.Throughput{Peer: peer, Bytes: 1, Streams: 1, DeadlineMs: deadlineMs})
	if err == nil || r != nil {
		t.Errorf("one byte has a rate: %+v", r)
	}
}

// TestWithoutPipes writes instead of splicing.
func TestWithoutPipes(t *testing.T) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	defer l.Close()
	conn, err := net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr))
	must(t, err)
	defer conn.Close()
	other, err := l.AcceptTCP()
	must(t, err)
	defer other.Close()
	for _, s := range []*source{newSource(false), newSource(true)} {
		f := s.feed()
		must(t, f.send(conn, 10_000))
		must(t, readFull(other, make([]byte, 10_000)))
		f.close()
		s.close()
	}
}

func TestRTT(t *testing.T) {
	_, peer := startServer(t)
	r, err := NewClient(testSecret).RTT(t.Context(), wire.RTT{Peer: peer, Probes: 100, IntervalMs: 1, WaitMs: 30_000, DeadlineMs: deadlineMs})
	must(t, err)
	if r.Received != 100 || r.Probes != 100 || r.MinMs <= 0 || r.MinMs > r.P50Ms || r.P50Ms > r.P99Ms || r.MinMs > 5 {
		t.Errorf("%+v", *r)
	}
}

// BenchmarkLoopback is the speed of the machine, with nothing in the way.
func BenchmarkLoopback(b *testing.B) {
	_, peer := startServer(b)
	for b.Loop() {
		r, err := NewClient(testSecret).Throughput(b.Context(), wire.Throughput{Peer: peer, DurationMs: 1000, Streams: 4, DeadlineMs: 10_000})
		must(b, err)
		b.ReportMetric(r.GoodputBps/1e9, "Gbit/s")
	}
}
