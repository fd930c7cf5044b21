//go:build linux

package probe

import (
	"time"

	"golang.org/x/sys/unix"
)

// moment is one instant by both of the machine's clocks. The kernel stamps
// packets by the wall clock, which somebody may set; how much time passed only
// the monotonic clock can say.
type moment struct {
	wall int64         // ns since 1970
	mono time.Duration // since an instant of its own
}

// stopwatch reads both clocks.
type stopwatch struct{ began time.Time }

func newStopwatch() stopwatch { return stopwatch{time.Now()} }

// now reads them again if the process was interrupted, perhaps between the one
// and the other.
func (s stopwatch) now() moment {
	before, t := time.Now(), time.Now()
	for range 3 {
		if t.Sub(before) < clockSlack/2 {
			break
		}
		before, t = t, time.Now()
	}
	return s.at(t)
}

// at converts a time that holds both clocks, as time.Now's does.
func (s stopwatch) at(t time.Time) moment { return moment{t.UnixNano(), t.Sub(s.began)} }

// clockSlack is how far the clocks may seem to part because one is read after
// the other. A wall clock that is set by less can't spoil much.
const clockSlack = 20 * time.Microsecond

// setSince says whether the wall clock was set between before and m. What a
// time daemon does to the clocks' speed it does to both.
func (m moment) setSince(before moment) bool {
	by := time.Duration(m.wall-before.wall) - (m.mono - before.mono)
	return by < -clockSlack || by > clockSlack
}

// distrust is how long a wall clock that was set spoils stamps: longer than any
// packet waits in a socket that is being read.
const distrust = 100 * time.Millisecond

// vigil watches for a wall clock that is set.
type vigil struct {
	last  moment
	until time.Duration // stamps are in doubt, by the monotonic clock
	ever  bool          // it was set
}

// trusts says at m, the present, whether stamps of packets that have just been
// read can be subtracted from each other.
func (v *vigil) trusts(m moment) bool {
	if v.last != (moment{}) && m.setSince(v.last) {
		v.until, v.ever = m.mono+distrust, true
	}
	v.last = m
	return m.mono >= v.until
}

// clockError bounds, by what the kernel was told by its time daemon, how far the
// wall clock is from UTC: adjtimex(2), maxerror. It is false for a clock that
// nobody keeps.
func clockError() (time.Duration, bool) {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil || t.Status&unix.STA_UNSYNC != 0 {
		return 0, false
	}
	return time.Duration(t.Maxerror) * time.Microsecond, true
}
