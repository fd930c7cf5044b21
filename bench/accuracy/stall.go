//go:build linux

package main

import "time"

const (
	// stallTick is how often a watch looks at the clock.
	stallTick = 20 * time.Millisecond
	// maxStall is longer than a busy computer keeps a thread waiting, but for one
	// that stood still: no path explains such a hole in a transfer.
	maxStall = 250 * time.Millisecond
)

// watch notices when the whole computer stands still, as virtual ones do.
type watch struct {
	stop  chan struct{}
	worst chan time.Duration
}

func newWatch() *watch {
	w := &watch{make(chan struct{}), make(chan time.Duration)}
	go w.run()
	return w
}

func (w *watch) run() {
	tick := time.NewTicker(stallTick)
	defer tick.Stop()
	var worst time.Duration
	for last := time.Now(); ; {
		select {
		case <-w.stop:
			w.worst <- worst
			return
		case <-tick.C:
			now := time.Now()
			worst = max(worst, now.Sub(last)-stallTick)
			last = now
		}
	}
}

// end returns the longest time that the watch came too late.
func (w *watch) end() time.Duration {
	close(w.stop)
	return <-w.worst
}
