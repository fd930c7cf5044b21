//go:build linux

package probe

import (
	"context"
	"time"
)

const (
	// paceEvery is how far apart the writes of a paced stream are, as long as
	// they fill a segment.
	paceEvery     = time.Millisecond
	minPacedWrite = 1400 // bytes
	// maxLag is how far a paced stream may fall behind and make up for it. What
	// the path held up longer is not offered again: the rate is the most there is.
	maxLag = 20 * time.Millisecond
)

// pace spaces the writes of one stream evenly. The zero value does nothing.
type pace struct {
	bytesPerS float64
	due       time.Time // of the next write
}

// paced shares a rate in bit/s among streams; 0 is no limit.
func paced(bps float64, streams int) pace {
	return pace{bytesPerS: bps / 8 / float64(streams), due: time.Now()}
}

// share is the size of a write, in bytes, at most so many.
func (p *pace) share(most int64) int64 {
	if p.bytesPerS == 0 {
		return most
	}
	return min(most, max(minPacedWrite, int64(p.bytesPerS*paceEvery.Seconds())))
}

// wait returns when n bytes may be written, or false when the time for them
// comes after stop (zero: never) or ctx ends first.
func (p *pace) wait(ctx context.Context, n int64, stop time.Time) bool {
	if p.bytesPerS == 0 {
		return true
	}
	now := time.Now()
	if earliest := now.Add(-maxLag); p.due.Before(earliest) {
		p.due = earliest
	}
	if !stop.IsZero() && p.due.After(stop) {
		return false
	}
	if !p.sleep(ctx, p.due.Sub(now)) {
		return false
	}
	p.due = p.due.Add(time.Duration(float64(n) / p.bytesPerS * float64(time.Second)))
	return true
}

func (p *pace) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
