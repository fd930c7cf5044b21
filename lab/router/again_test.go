//go:build linux

package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/lab/router/link"
)

const (
	// patience is longer than anything takes that comes at all.
	patience = 2 * time.Minute
	// againTries is how often a busy computer may spoil what is measured.
	againTries = 8
	// againPause grows with each try: what else the computer does may end.
	againPause = 500 * time.Millisecond
	// tooBusy is what is wrong where the computer could not have done better
	// without the router.
	tooBusy = "this computer is too busy to tell"
)

// again measures until the result is right, which means that measure returns
// "", and says what was wrong with the last one otherwise. A busy computer slows
// a flow down, and one that stands still lets a reader find more than came in
// the time it looked at: both pass. What is wrong on any computer is wrong every
// time, or an error of t at once; so is, in the end, a computer that is never
// quiet enough to tell.
func again(t *testing.T, measure func() (wrong string)) {
	t.Helper()
	for try := range againTries {
		wrong := measure()
		if wrong == "" || t.Failed() {
			return
		}
		t.Logf("try %d: %s", try, wrong)
		if try == againTries-1 {
			t.Error(wrong)
			return
		}
		time.Sleep(time.Duration(try) * againPause)
	}
}

// reaches says what is wrong with the goodput of a path that caps it at so many
// bit/s. If it is too low, a path of the same delay without a cap has to be
// twice as fast for that to mean anything.
func reaches(t *testing.T, kind link.Kind, congestion string, cap, got float64) (wrong string) {
	t.Helper()
	switch {
	case got > 1.02*cap:
		return fmt.Sprintf("goodput %.2f Mbit/s of at most %.2f", got/1e6, cap/1e6)
	case got > 0.75*cap:
		return ""
	}
	inet := newInternet(t, kind, flat(t, 0, "delay_ms: 5"), Cost{})
	a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
	free := goodput(t, a, b, congestion, 300*time.Millisecond, 800*time.Millisecond)
	t.Logf("goodput %.2f Mbit/s of %.2f; %.2f without a cap", got/1e6, cap/1e6, free/1e6)
	if free < 2*cap {
		return tooBusy
	}
	return fmt.Sprintf("goodput %.2f Mbit/s, want %.2f", got/1e6, cap/1e6)
}

// prompt says whether a program that is asked over loopback answers within a
// millisecond, most of the time.
func prompt(t *testing.T, m *machine) bool {
	t.Helper()
	go echo(m.listenUDP(t, 8))
	times := roundTrips(t, m.listenUDP(t, 1001), m.at(8), 16)
	return times[len(times)/2] < time.Millisecond
}
