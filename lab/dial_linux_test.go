package lab

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestDialErrors(t *testing.T) {
	l := open(t, Options{Rough: true})
	cases := []struct {
		name, network, addr string
		want                error
	}{
		{"nobody listens", "tcp", "127.0.0.1:9", syscall.ECONNREFUSED},
		{"no connection to all", "tcp", "255.255.255.255:9", syscall.ENETUNREACH},
		{"not TCP", "udp", "127.0.0.1:9", net.UnknownNetworkError("udp")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := l.Dial(t.Context(), c.network, c.addr)
			var op *net.OpError
			if !errors.As(err, &op) || op.Op != "dial" || !errors.Is(err, c.want) {
				t.Errorf("Dial = %#v (%v); want a dial error: %v", err, err, c.want)
			}
		})
	}
}

func TestDialIsCancelled(t *testing.T) {
	l := open(t, Options{Rough: true})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := l.Dial(ctx, "tcp", "198.19.255.254:22") // routed, nobody there
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Dial = %v; want a timeout", err)
	}
	if took := time.Since(begun); took > patience/4 {
		t.Errorf("Dial took %v after a deadline of 50 ms", took)
	}
}

// TestDialCannotReachHost: a listener of the host is not there inside.
func TestDialCannotReachHost(t *testing.T) {
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	l := open(t, Options{Rough: true})
	if _, err := l.Dial(t.Context(), "tcp", host.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Dial of the host = %v; want %v", err, syscall.ECONNREFUSED)
	}
}

func TestManyDialsAtOnce(t *testing.T) {
	l := open(t, Options{Rough: true})
	before := openFiles(t)
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if _, err := l.Dial(t.Context(), "tcp", "127.0.0.1:9"); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("Dial = %v; want %v", err, syscall.ECONNREFUSED)
			}
		})
	}
	all.Wait()
	if after := openFiles(t); after > before {
		t.Errorf("%d open files after the dials, %d before", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
