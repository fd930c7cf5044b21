//go:build linux

package probe

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
)

// newTestSolo is on loopback, with a connection to it.
func newTestSolo(t *testing.T) (*solo, *net.UDPConn) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	peer, err := net.DialUDP("udp", nil, conn.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	s, err := soloOf(conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s, peer
}

// TestSoloEnds: whatever ends a wait ends it, and the socket is closed then.
func TestSoloEnds(t *testing.T) {
	lost := errors.New("the peer is lost")
	for name, c := range map[string]struct {
		end  func(s *solo, cancel context.CancelCauseFunc, stop chan struct{}, peer *net.UDPConn)
		want error
	}{
		"a time":       {func(*solo, context.CancelCauseFunc, chan struct{}, *net.UDPConn) {}, nil},
		"the context":  {func(_ *solo, cancel context.CancelCauseFunc, _ chan struct{}, _ *net.UDPConn) { cancel(lost) }, lost},
		"who wakes it": {func(s *solo, _ context.CancelCauseFunc, stop chan struct{}, _ *net.UDPConn) { close(stop); s.wake() }, nil},
		"a packet": {func(_ *solo, _ context.CancelCauseFunc, _ chan struct{}, peer *net.UDPConn) {
			peer.Write([]byte("stop"))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, peer := newTestSolo(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			stop := make(chan struct{})
			limit := time.Now().Add(time.Minute)
			if name == "a time" {
				limit = time.Now().Add(20 * time.Millisecond)
			}
			time.AfterFunc(20*time.Millisecond, func() { c.end(s, cancel, stop, peer) })
			err := s.use(ctx, func() error {
				return s.takeUntil(ctx, limit, stop, func(a arrival) {
					if string(a.data) != "stop" {
						t.Errorf("got %q", a.data)
					}
					close(stop)
				})
			})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			peer.Write([]byte("x"))
			if _, err := peer.Write([]byte("x")); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("the socket is open still: %v", err)
			}
		})
	}
}

// TestSoloCloses: it may be closed at any time, and is not used afterwards.
func TestSoloCloses(t *testing.T) {
	s, _ := newTestSolo(t)
	time.AfterFunc(20*time.Millisecond, s.close)
	if err := s.use(t.Context(), func() error {
		for !s.over() {
			s.wait(time.Time{})
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	s.close()
	s.wake()
	if err := s.use(t.Context(), func() error { t.Error("used after its end"); return nil }); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %v", err, net.ErrClosed)
	}
	unused, _ := newTestSolo(t)
	unused.close()
	if _, err := unused.bound(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %v", err, net.ErrClosed)
	}
}
