//go:build linux

package probe

import (
	"slices"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// trip is what is known of one probe. Stamps are in ns since 1970 by the wall
// clock of the machine that took them, 0 where there is none.
type trip struct {
	sent, got moment // user space: before the query was sent, after the answer was read
	answered  bool   // in time

	left, came int64         // kernel: the query left this machine, the answer reached it
	there      int64         // kernel: the query reached the responder
	residence  time.Duration // from there until the responder's user space sent the answer; 0: unknown
	held       time.Duration // from there until the answer left the responder's kernel; 0: unknown
}

// elapsed is the round trip as user space sees it.
func (t trip) elapsed() time.Duration { return t.got.mono - t.sent.mono }

// steady is true if this machine's wall clock was not set meanwhile.
func (t trip) steady() bool { return !t.got.setSince(t.sent) }

// between are the kernel's stamps of both ends of a trip, if they can be true:
// in order, and within what user space saw.
func (t trip) between() (time.Duration, bool) {
	span := time.Duration(t.came - t.left)
	ok := t.left != 0 && t.came != 0 && t.steady() &&
		t.left >= t.sent.wall-int64(clockSlack) && t.came <= t.got.wall+int64(clockSlack) && span > 0
	return span, ok
}

// byKernel is the time between four stamps of kernels, of departure and arrival
// on both machines: that of the wire.
func (t trip) byKernel() (time.Duration, bool) {
	span, ok := t.between()
	return span - t.held, ok && t.held > 0 && t.held < span
}

// sending is what this machine needed from the process's sending to the kernel's
// stamp of the departure.
func (t trip) sending() (time.Duration, bool) {
	_, ok := t.byKernel()
	return max(0, time.Duration(t.left-t.sent.wall)), ok
}

// byArrival is the time from this process's sending to its kernel's stamp of the
// answer, less what the responder needed from its kernel's stamp to its sending.
func (t trip) byArrival() (time.Duration, bool) {
	span := time.Duration(t.came - t.sent.wall)
	ok := t.came != 0 && t.steady() && span > 0 && span <= t.elapsed()+clockSlack
	return span - t.residence, ok && t.residence > 0 && t.residence < span
}

func (t trip) byUser() (time.Duration, bool) { return t.elapsed(), true }

// mostly is the share of the answers that must have stamps for the times to be
// theirs; those without are left out then. One level in a result: a mixture
// would be a distribution of nothing.
const mostly = .95

// times are the round trips of the answered probes by the best clock that has
// nearly all, and which it is: a wire.Stamps constant. A round trip is from a
// process's sending to its kernel's stamp of the arrival, and back likewise, as
// ping measures it too. By the kernels' stamps the sending is told apart: what a
// kernel needs for it (the lowest tenth of what it took) is in every time, and what
// it took longer, since a process had slept or waited for a CPU, in none. There is
// what the responder's kernel needs, 0 if that is not known.
func times(trips []trip, there time.Duration) (rtts []time.Duration, sending time.Duration, stamps string) {
	answered := len(collect(trips, trip.byUser))
	enough := func(n int) bool { return n > 0 && float64(n) >= mostly*float64(answered) }
	if rtts = collect(trips, trip.byKernel); enough(len(rtts)) && there > 0 {
		here := collect(trips, trip.sending)
		sending = here[len(here)/10] + there
		for i := range rtts {
			rtts[i] += sending
		}
		return rtts, sending, wire.StampsKernel
	}
	if rtts = collect(trips, trip.byArrival); enough(len(rtts)) {
		return rtts, 0, wire.StampsArrival
	}
	return collect(trips, trip.byUser), 0, wire.StampsUser
}

// collect gives the times of the answered probes, sorted, without those that a
// clock does not know.
func collect(trips []trip, by func(trip) (time.Duration, bool)) (rtts []time.Duration) {
	for _, t := range trips {
		if rtt, ok := by(t); t.answered && ok {
			rtts = append(rtts, rtt)
		}
	}
	slices.Sort(rtts)
	return rtts
}
