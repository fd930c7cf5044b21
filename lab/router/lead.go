package router

import "time"

// Bounds of a lead.
const (
	minLead = 20 * time.Microsecond
	maxLead = 400 * time.Microsecond
)

// lead is how long before a datagram is due the router ends its sleep and
// watches the clock instead. It follows how late this computer wakes a thread
// up: some ten microseconds when it is busy, a tenth of a millisecond when it
// sleeps deeply, and then the wait is short compared with the sleep.
type lead struct {
	usual time.Duration // lateness, moving average
}

// learn takes in that a timer woke the thread late.
func (l *lead) learn(late time.Duration) {
	l.usual += (min(late, maxLead) - l.usual) / 8
}

func (l lead) time() time.Duration {
	return min(max(l.usual*3/2, minLead), maxLead)
}
