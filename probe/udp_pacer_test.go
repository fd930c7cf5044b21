//go:build linux

package probe

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestPacer(t *testing.T) {
	tests := []struct {
		name  string
		bps   float64
		bytes int
	}{
		{"slow", 1e3, 1448},
		{"voice", 64e3, 160},
		{"medium", 50e6, 1448},
		{"fast", 1e9, 1448},
		{"a packet each 10 ns", 6.4e12 / 125, 64},
		{"super", 1e11, 60_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			interval := float64(tt.bytes) * 8e9 / tt.bps
			start := 5 * time.Second
			p := newPacer(tt.bps, tt.bytes, start)
			now, end := start, start+max(time.Second, time.Duration(20*interval))
			var sent int64
			for now < end {
				n, wait := p.due(now, 1<<40)
				if wait > 0 {
					now += wait
					continue
				}
				if most := max(1, int64(1e6/interval)); n < 1 || n > most {
					t.Fatalf("%d at once, want 1 to %d", n, most)
				}
				if early := float64(start) + float64(sent)*interval - float64(now); early > 1 {
					t.Fatalf("datagram %d is %v ns early", sent, early)
				}
				sent += n
				now += 50 * time.Microsecond // of sending and of waking up late
			}
			want := float64(end-start) / interval
			if tolerance := 1 + want/1000; float64(sent) < want-tolerance || float64(sent) > want+tolerance {
				t.Errorf("sent %d, want %.1f", sent, want)
			}
		})
	}
}

// TestPacerBehind catches up what was missed for a short time, evenly, and
// forgets what was missed for long.
func TestPacerBehind(t *testing.T) {
	const ms = time.Millisecond
	p := newPacer(8e6, 100, 0) // one each 0.1 ms
	count := func(from, to time.Duration) (sent int64) {
		for now := from; now < to; {
			n, wait := p.due(now, 1<<40)
			sent += n
			now += wait
		}
		return sent
	}
	for name, c := range map[string]struct{ pause, want time.Duration }{
		"short": {20 * ms, 120 * ms},
		"long":  {time.Minute, 200 * ms},
	} {
		p = newPacer(8e6, 100, 0)
		count(0, 10*ms)
		sent := count(10*ms+c.pause, 110*ms+c.pause)
		if want := int64(c.want / (ms / 10)); sent < want-20 || sent > want+20 {
			t.Errorf("after a %s pause it sends %d, want %d", name, sent, want)
		}
	}
}

func TestPauseEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	if err := pause(ctx, time.Hour); !errors.Is(err, errCancelled) {
		t.Error(err)
	}
}
