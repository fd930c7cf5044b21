package e2e

import "time"

const (
	watchTick = 5 * time.Millisecond
	// lateTick is what would show in a round trip.
	lateTick = 2 * time.Millisecond
)

// watch knows how busy the computer is by how late it is told the time.
type watch struct {
	stop chan struct{}
	late chan float64
}

func newWatch() *watch {
	w := &watch{make(chan struct{}), make(chan float64)}
	go w.run()
	return w
}

func (w *watch) run() {
	ticks, late := 0, 0
	for due := time.Now().Add(watchTick); ; due = time.Now().Add(watchTick) {
		select {
		case <-w.stop:
			w.late <- float64(late) / float64(max(1, ticks))
			return
		case <-time.After(time.Until(due)):
			ticks++
			if time.Since(due) > lateTick {
				late++
			}
		}
	}
}

// end returns the share of ticks that came late, 0 to 1.
func (w *watch) end() float64 {
	close(w.stop)
	return <-w.late
}
