package router

import "time"

// Bounds of a lead.
const (
	minLead = 20 * time.Microsecond
	maxLead = 400 * time.Microsecond
)

// Watching the clock may take one part in watchShare of all time, saved up for
// at most maxCredit: the machines need the computer too.
const (
	watchShare = 4
	maxCredit  = 10 * time.Millisecond
)

// lead is how long before a datagram is due the router ends its sleep and
// watches the clock instead. It follows how late this computer wakes a thread
// up: some ten microseconds when it is busy, a tenth of a millisecond when it
// sleeps deeply, and then the wait is short compared with the sleep.
type lead struct {
	usual  time.Duration // lateness, moving average
	credit time.Duration // of watching
}

// learn takes in that a timer woke the thread late.
func (l *lead) learn(late time.Duration) {
	l.usual += (min(late, maxLead) - l.usual) / 8
}

// spend takes in how a time was spent.
func (l *lead) spend(d time.Duration, watching bool) {
	if watching {
		l.credit -= d
		return
	}
	l.credit = min(l.credit+d/watchShare, maxCredit)
}

func (l *lead) time() time.Duration {
	if l.credit <= 0 {
		return 0
	}
	return min(max(l.usual*3/2, minLead), maxLead)
}
