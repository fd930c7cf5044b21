//go:build linux

package probe

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// pacerTick is the shortest pause between two bursts; a kernel wakes
	// sleepers some 50 us late.
	pacerTick = 250 * time.Microsecond
	// pacerBurst is the longest time whose datagrams are sent at once.
	pacerBurst = time.Millisecond
	// pacerLag is how far a sender may fall behind and still catch up: what a
	// computer that stood still missed is not made up for.
	pacerLag = 100 * time.Millisecond
)

// pacer says when how many datagrams are due, so that they leave evenly.
type pacer struct {
	interval float64       // between two datagrams, in ns
	sent     int64         // since began
	began    time.Duration // by the clock of the calls
	burst    time.Duration // when the last one began
}

// newPacer sends datagrams of so many bytes at bps bit/s of payload from now on.
func newPacer(bps float64, bytes int, now time.Duration) *pacer {
	return &pacer{interval: float64(bytes) * 8 * 1e9 / bps, began: now, burst: now - pacerTick}
}

// due is how many datagrams, at most limit, are to be sent now; if none, how
// long to wait. What is due is taken as sent.
func (p *pacer) due(now time.Duration, limit int64) (n int64, wait time.Duration) {
	next := p.began + time.Duration(float64(p.sent)*p.interval)
	if missed := now - next - pacerLag; missed > 0 {
		p.began += missed
		next += missed
	}
	if wait := max(next, p.burst+pacerTick) - now; wait > 0 {
		return 0, wait
	}
	n = 1 + int64(float64(now-next)/p.interval)
	n = min(n, max(1, int64(float64(pacerBurst)/p.interval)), limit)
	p.sent += n
	p.burst = now
	return n, 0
}

// pause waits for d or until ctx ends. Go's own timers may be a millisecond
// late, so the end of a wait is left to the kernel.
func pause(ctx context.Context, d time.Duration) error {
	const exact = 2 * time.Millisecond
	if d > exact {
		timer := time.NewTimer(d - exact)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return nil // the caller asks again
		}
	}
	ts := unix.NsecToTimespec(int64(d))
	unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &ts, nil) // woken early, the caller asks again
	return nil
}
