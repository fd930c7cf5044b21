//go:build linux

package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/host"
)

// discardBytes is the most one receive call takes.
const discardBytes = 1 << 20

// discard is where received bytes would go. With MSG_TRUNC the kernel drops
// them instead, so no page of it is ever touched; nobody reads it.
var discard = make([]byte, discardBytes)

// receiver is the receiving side of one throughput test: it counts.
type receiver struct {
	began time.Time
	every time.Duration // between samples
	first atomic.Int64  // ns since began of the first byte, plus one; 0: none yet
	bytes []tally       // per stream
	ended chan error    // one value per stream that has ended

	window int64 // bytes to offer each stream at most; 0: the kernel's choice
	connSet
}

// tally counts one stream, on a cache line of its own.
type tally struct {
	bytes atomic.Int64
	last  atomic.Int64 // ns since began of the latest byte
	_     [48]byte
}

func newReceiver(streams int, deadline time.Duration) *receiver {
	return &receiver{
		began: time.Now(),
		every: sampleInterval(deadline),
		bytes: make([]tally, streams),
		ended: make(chan error, streams),

		connSet: connSet{conns: make([]*net.TCPConn, streams)},
	}
}

// attach takes a data connection, once per stream; the caller then calls use.
func (r *receiver) attach(stream int, conn *net.TCPConn) error {
	if err := r.connSet.attach(stream, conn); err != nil {
		return err
	}
	raw, err := conn.SyscallConn()
	if err == nil {
		err = prepareTCPReceiver(raw, r.window)
	}
	if err != nil {
		r.ended <- err
	}
	return err
}

// use counts one stream until the sender half-closes it or close is called.
func (r *receiver) use(stream int, conn *net.TCPConn) {
	r.ended <- r.count(&r.bytes[stream], conn)
}

func (r *receiver) count(t *tally, conn *net.TCPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	for {
		var n int
		rerr := raw.Read(func(fd uintptr) bool {
			n, err = retry(func() (int, error) {
				n, _, err := unix.Recvfrom(int(fd), discard, unix.MSG_TRUNC)
				return n, err
			})
			return !errors.Is(err, unix.EAGAIN)
		})
		if err := errors.Join(rerr, os.NewSyscallError("recvfrom", err)); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		now := int64(time.Since(r.began))
		r.first.CompareAndSwap(0, now+1)
		t.bytes.Add(int64(n))
		t.last.Store(now)
	}
}

// now is the count of all streams; false before the first byte.
func (r *receiver) now() (point, bool) {
	first := r.first.Load()
	p := point{At: time.Since(r.began) - time.Duration(first-1)}
	for i := range r.bytes {
		p.Bytes += r.bytes[i].bytes.Load()
	}
	return p, first > 0
}

// total is the final count: call it when every stream has ended.
func (r *receiver) total() (point, *count) {
	c := &count{Streams: make([]int64, len(r.bytes))}
	p, any := r.now()
	if !any {
		return point{}, c
	}
	p.At = 0
	for i := range r.bytes {
		c.Streams[i] = r.bytes[i].bytes.Load()
		p.At = max(p.At, time.Duration(r.bytes[i].last.Load()-r.first.Load()+1))
	}
	c.Bytes, c.SpanUs = p.Bytes, p.At.Microseconds()
	return p, c
}

// clamp holds the windows to what was asked.
func (r *receiver) clamp() {
	if r.window == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		if c != nil { // closed: its end is told elsewhere
			onFD(c, func(fd int) error { return clampWindow(fd, r.window) })
		}
	}
}

// report sends samples until every stream has ended, then the final count. It
// ends early with ctx, or when a stream or the control connection fails.
func (r *receiver) report(ctx context.Context, ctl *control) error {
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	var batch []point
	var latest point                       // among those sent
	meter := host.Start(ownAddr(ctl.conn)) // begun anew with the first byte, if there is time
	begun := false
	sent := time.Now()
	for open := len(r.bytes); open > 0; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-r.ended:
			if err != nil {
				return fmt.Errorf("receive: %w", err)
			}
			open--
			continue
		case <-tick.C:
		}
		r.clamp()
		if p, any := r.now(); any {
			batch = append(batch, p)
			if !begun {
				meter, begun = host.Start(ownAddr(ctl.conn)), true
			}
		}
		if time.Since(sent) >= newsInterval {
			if err := ctl.out.Write(news{Samples: batch}); err != nil {
				return err
			}
			if len(batch) > 0 {
				latest = batch[len(batch)-1]
			}
			batch, sent = nil, time.Now()
		}
	}
	end, total := r.total()
	return ctl.out.Write(news{Samples: lastSamples(latest, batch, end), Count: total, Host: hostOf(meter)})
}

// lastSamples ends the samples with the last byte. Those taken while its
// stream's end was still on its way are left out: time goes forward only.
func lastSamples(latest point, batch []point, end point) []point {
	for len(batch) > 0 && batch[len(batch)-1].At > end.At {
		batch = batch[:len(batch)-1]
	}
	if latest.At > end.At {
		return nil
	}
	return append(batch, end)
}
