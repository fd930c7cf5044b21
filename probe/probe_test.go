package probe

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/antipode-bench/antipode/probe/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testSecret = []byte("0123456789abcdef0123456789abcdef")

// startServer serves on loopback until the test ends.
func startServer(t testing.TB) (*Server, wire.Peer) {
	t.Helper()
	s, err := Listen(testSecret, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Serve = %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Serve does not end")
		}
	})
	return s, wire.Peer{Addr: "127.0.0.1", Port: s.Port()}
}

func TestThroughputLoopback(t *testing.T) {
	_, peer := startServer(t)
	c := NewClient(testSecret)
	for _, req := range []wire.Throughput{
		{DurationMs: 1000, Streams: 1},
		{DurationMs: 1000, Streams: 4},
		{Bytes: 500e6, Streams: 3},
		{Bytes: 1e6, Streams: 3},
		{Bytes: 1e6, DurationMs: 1000, Streams: 16, CongestionControl: "cubic"},
	} {
		req.Peer, req.DeadlineMs = peer, 10000
		r, err := c.Throughput(t.Context(), req)
		t.Logf("%+v %v", r, err)
	}
}

func TestRTTLoopback(t *testing.T) {
	_, peer := startServer(t)
	c := NewClient(testSecret)
	r, err := c.RTT(t.Context(), wire.RTT{Peer: peer, Probes: 300, IntervalMs: 1, WaitMs: 1000, DeadlineMs: 10000})
	t.Logf("%+v %v", r, err)
	_, err = c.RTT(t.Context(), wire.RTT{Peer: wire.Peer{Addr: "::1", Port: peer.Port}, Probes: 10, IntervalMs: 1, WaitMs: 1000, DeadlineMs: 10000})
	t.Log(err)
}
