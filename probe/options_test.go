//go:build linux

package probe

import (
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

func TestOptions(t *testing.T) {
	_, peer := startServer(t)
	for name, c := range map[string]struct {
		options wire.TCPOptions
		granted func(*wire.ThroughputResult) bool
	}{
		"none": {wire.TCPOptions{}, func(r *wire.ThroughputResult) bool {
			return r.Granted.PacingBps == 0 && r.Granted.DSCP == 0 && !r.Granted.NoDelay && r.Granted.SendBufferBytes > 0
		}},
		"send buffer": {wire.TCPOptions{SendBufferBytes: 50_000}, func(r *wire.ThroughputResult) bool {
			return r.Granted.SendBufferBytes == 100_000
		}},
		"receive window": {wire.TCPOptions{ReceiveWindowBytes: 128 << 10}, func(r *wire.ThroughputResult) bool {
			return r.Granted.ReceiveWindowBytes > 32<<10 && r.Granted.ReceiveWindowBytes <= 4*128<<10
		}},
		"small window": {wire.TCPOptions{ReceiveWindowBytes: 64 << 10}, func(r *wire.ThroughputResult) bool {
			return r.Granted.ReceiveWindowBytes > 0 && r.Granted.ReceiveWindowBytes <= 4*64<<10
		}},
		"MSS":      {wire.TCPOptions{MSSBytes: 1000}, func(r *wire.ThroughputResult) bool { return r.MSSBytes > 900 && r.MSSBytes <= 1000 }},
		"no delay": {wire.TCPOptions{NoDelay: true}, func(r *wire.ThroughputResult) bool { return r.Granted.NoDelay }},
		"DSCP":     {wire.TCPOptions{DSCP: 46}, func(r *wire.ThroughputResult) bool { return r.Granted.DSCP == 46 }},
		"pacing": {wire.TCPOptions{PacingBps: 80e6}, func(r *wire.ThroughputResult) bool {
			return r.Granted.PacingBps == 80e6 && r.GoodputMeanBps < 160e6
		}},
		"rate": {wire.TCPOptions{RateBps: 20e6}, func(r *wire.ThroughputResult) bool { return r.GoodputMeanBps < 22e6 }},
	} {
		for way, reverse := range map[string]bool{"": false, ", reverse": true} {
			t.Run(name+way, func(t *testing.T) {
				req := wire.Throughput{Peer: peer, Bytes: 2_000_000, Streams: 2, DeadlineMs: deadlineMs, Options: c.options, Reverse: reverse}
				again(t, func() (wrong string) { // a receiver that stands still gets what waits in no time
					r, err := NewClient(testSecret).Throughput(t.Context(), req)
					must(t, err)
					if r.Asked != c.options || r.Bytes == 0 {
						t.Errorf("asked %+v, %d bytes", r.Asked, r.Bytes)
					}
					if !c.granted(r) {
						return fmt.Sprintf("asked %+v, granted %+v; MSS %d, %v bit/s", r.Asked, r.Granted, r.MSSBytes, r.GoodputMeanBps)
					}
					return ""
				})
			})
		}
	}
}

// TestClientPort runs twice: the second time the ports linger.
func TestClientPort(t *testing.T) {
	s, peer := startServer(t)
	l, err := net.ListenTCP("tcp", &net.TCPAddr{})
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	for range 2 {
		req := wire.Throughput{Peer: peer, DurationMs: 300, Streams: 1, DeadlineMs: deadlineMs, Options: wire.TCPOptions{ClientPort: port}}
		ended := make(chan error, 1)
		go func() {
			_, err := NewClient(testSecret).Throughput(t.Context(), req)
			ended <- err
		}()
		waitFor(t, func() bool { return from(s, port) || len(ended) > 0 })
		must(t, <-ended)
		waitFor(t, func() bool { return sessions(s) == 0 })
	}
}

// from reports whether a data connection from the port is in a session.
func from(s *Server, port int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ses := range s.sessions {
		r := ses.takes.(*receiver)
		r.connSet.mu.Lock()
		conn := r.conns[0]
		r.connSet.mu.Unlock()
		if conn != nil && conn.RemoteAddr().(*net.TCPAddr).Port == port {
			return true
		}
	}
	return false
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := paced(8e6, 1) // a megabyte per second
		if n := p.share(feedBytes); n != minPacedWrite {
			t.Errorf("writes of %d bytes, want %d", n, minPacedWrite)
		}
		began, stop := time.Now(), time.Now().Add(time.Second)
		sent := int64(0)
		for p.wait(t.Context(), minPacedWrite, stop) {
			sent += minPacedWrite
		}
		if sent < 999_000 || sent > 1_003_000 || time.Since(began) > time.Second {
			t.Errorf("%d bytes in %v", sent, time.Since(began))
		}
		time.Sleep(time.Minute) // what the path held up is not made up for, but for maxLag
		sent, stop = 0, time.Now().Add(100*time.Millisecond)
		for p.wait(t.Context(), minPacedWrite, stop) {
			sent += minPacedWrite
		}
		if sent < 119_000 || sent > 123_000 {
			t.Errorf("%d bytes in 100 ms after a minute's pause, want 120 ms' worth", sent)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if p.wait(ctx, 1, time.Time{}) {
			t.Error("it goes on after its end")
		}
		none := paced(0, 1)
		if !none.wait(ctx, 1<<40, time.Time{}) || none.share(feedBytes) != feedBytes {
			t.Error("without a rate it waits")
		}
	})
}
