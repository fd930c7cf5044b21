//go:build linux

package probe

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/probe/wire"
)

const (
	ms    = time.Millisecond
	epoch = int64(1_800_000_000e9) // a time of the wall clock, ns
)

// at is the time d after epoch by both clocks.
func at(d time.Duration) moment { return moment{epoch + int64(d), d} }

// wholeTrip has every stamp: 8 ms between the stamps here, 3 ms at the responder,
// of which user space knows 2. The responder's clock is an hour ahead.
func wholeTrip(sent time.Duration) trip {
	return trip{
		sent: at(sent), got: at(sent + 10*ms), answered: true,
		left: at(sent + ms).wall, came: at(sent + 9*ms).wall,
		there: at(sent + 3*ms + time.Hour).wall, residence: 2 * ms, held: 3 * ms,
	}
}

func TestTripClocks(t *testing.T) {
	const none = -1
	for name, c := range map[string]struct {
		spoil           func(*trip)
		kernel, arrival time.Duration
	}{
		"whole":                        {func(*trip) {}, 5 * ms, 7 * ms},
		"no stamp of the departure":    {func(p *trip) { p.left = 0 }, none, 7 * ms},
		"no stamp of the arrival":      {func(p *trip) { p.came = 0 }, none, none},
		"responder's departure lost":   {func(p *trip) { p.held = 0 }, none, 7 * ms},
		"responder has no stamps":      {func(p *trip) { p.held, p.residence, p.there = 0, 0, 0 }, none, none},
		"clock set forward":            {func(p *trip) { p.got.wall += int64(time.Hour); p.came += int64(time.Hour) }, none, none},
		"clock set back":               {func(p *trip) { p.got.wall -= int64(time.Hour); p.came -= int64(time.Hour) }, none, none},
		"clock set forward a little":   {func(p *trip) { p.got.wall += int64(ms); p.came += int64(ms) }, none, none},
		"clocks read one after other":  {func(p *trip) { p.got.wall += 1000 }, 5 * ms, 7 * ms},
		"arrived before it left":       {func(p *trip) { p.left, p.came = p.came, p.left }, none, none},
		"left before it was sent":      {func(p *trip) { p.left = p.sent.wall - int64(ms) }, none, 7 * ms},
		"came after it was read":       {func(p *trip) { p.came = p.got.wall + int64(ms) }, none, none},
		"held longer than it was gone": {func(p *trip) { p.held = 8 * ms }, none, 7 * ms},
		"responder lies":               {func(p *trip) { p.held, p.residence = -ms, -ms }, none, none},
	} {
		t.Run(name, func(t *testing.T) {
			p := wholeTrip(0)
			c.spoil(&p)
			for clock, v := range map[string]struct {
				by   func(trip) (time.Duration, bool)
				want time.Duration
			}{"kernel": {trip.byKernel, c.kernel}, "arrival": {trip.byArrival, c.arrival}, "user": {trip.byUser, 10 * ms}} {
				if got, ok := v.by(p); ok != (v.want != none) || ok && got != v.want {
					t.Errorf("by %s: %v, %v; want %v", clock, got, ok, v.want)
				}
			}
		})
	}
}

// TestTimes: one stamp of twenty may be missing, two make the times another
// clock's.
func TestTimes(t *testing.T) {
	for name, c := range map[string]struct {
		kernel, arrival, neither int // probes
		want                     string
		first                    time.Duration
		n                        int
	}{
		"all":            {20, 0, 0, wire.StampsKernel, 7 * ms, 20},
		"nearly all":     {19, 1, 0, wire.StampsKernel, 7 * ms, 19},
		"too few":        {18, 2, 0, wire.StampsArrival, 7 * ms, 20},
		"arrivals only":  {0, 19, 1, wire.StampsArrival, 7 * ms, 19},
		"hardly any":     {1, 1, 18, wire.StampsUser, 10 * ms, 20},
		"none":           {0, 0, 1, wire.StampsUser, 10 * ms, 1},
		"nothing at all": {0, 0, 0, wire.StampsUser, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var all []trip
			for i := range c.kernel + c.arrival + c.neither {
				p := wholeTrip(time.Duration(i) * time.Second)
				if i >= c.kernel {
					p.left = 0
				}
				if i >= c.kernel+c.arrival {
					p.came = 0
				}
				all = append(all, p)
			}
			all = append(all, trip{sent: at(time.Hour)}) // lost
			got, _, stamps := times(all, ms)
			if stamps != c.want || len(got) != c.n || c.n > 0 && got[0] != c.first {
				t.Errorf("%v by %s, want %d of %v by %s", got, stamps, c.n, c.first, c.want)
			}
		})
	}
}

func TestVigil(t *testing.T) {
	var v vigil
	steps := []struct {
		after, set time.Duration // since the last step
		want       bool
	}{
		{0, 0, true}, {ms, 0, true}, {ms, 10 * time.Microsecond, true}, {ms, -time.Hour, false}, {distrust / 2, 0, false},
		{distrust / 2, 0, true}, {time.Hour, 0, true}, {0, ms, false},
	}
	var now moment
	now.wall = epoch
	for i, s := range steps {
		now.mono += s.after
		now.wall += int64(s.after + s.set)
		if got := v.trusts(now); got != s.want {
			t.Errorf("step %d: trusts %v, want %v", i, got, s.want)
		}
	}
	if !v.ever {
		t.Error("forgot that it was set")
	}
}

func TestSequence(t *testing.T) {
	for name, c := range map[string]struct {
		numbers []uint32
		want    int
	}{
		"in order":        {[]uint32{0, 1, 2, 3}, 0},
		"with losses":     {[]uint32{1, 4, 9}, 0},
		"two swapped":     {[]uint32{0, 2, 1, 3}, 1},
		"one very late":   {[]uint32{1, 2, 3, 0}, 1},
		"one very early":  {[]uint32{3, 0, 1, 2}, 3},
		"largest number":  {[]uint32{math.MaxUint32 - 1, 0}, 1},
		"all backwards":   {[]uint32{3, 2, 1, 0}, 3},
		"nothing arrives": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var s sequence
			for _, n := range c.numbers {
				s.see(n)
			}
			if s.reordered != c.want {
				t.Errorf("%d reordered, want %d", s.reordered, c.want)
			}
		})
	}
}

// newTrips has sent some of n probes, at the epoch.
func newTrips(n, sent int) *trips {
	var all trips
	all.init(handshake{id: sessionID{7}, key: echoKey}, n, time.Second)
	for i := range sent {
		all.sending(i)
		all.probes[i].sent = at(0)
	}
	return &all
}

func TestTripsTakeOnce(t *testing.T) {
	p := newTrips(3, 2)
	answer := func(seq, number uint32) arrival {
		return arriving(made(packet{kind: packetAnswer, seq: seq, number: number}))
	}
	p.takeAt(answer(0, 0), at(10*ms))
	p.takeAt(answer(0, 0), at(20*ms))         // a duplicate
	p.takeAt(answer(1, 1), at(2*time.Second)) // too late
	p.takeAt(answer(1, 1), at(3*time.Second)) // and once more
	p.takeAt(answer(2, 0), at(ms))            // not sent yet
	p.takeAt(answer(1, 9), at(ms))            // not as many were sent
	p.takeAt(answer(9, 0), at(ms))            // never to be sent
	p.takeAt(arriving(query(1)), at(ms))      // our own query, reflected
	r := p.summarize(&lastWord{echoed: echoed{Answered: 2, Duplicates: 1, ClockErrorUs: -1}})
	want := &wire.RTTResult{
		Probes: 2, Received: 1, LossRatio: .5, MinMs: 10, MeanMs: 10, P50Ms: 10, P99Ms: 10, UserP50Ms: 10, UserP99Ms: 10,
		Stamps: wire.StampsUser, Counts: &wire.RTTCounts{Late: 1, Duplicates: 3},
	}
	if d := cmp.Diff(want, r); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestTripsCounts sends ten probes.
func TestTripsCounts(t *testing.T) {
	for name, c := range map[string]struct {
		came []uint32 // sequence numbers of answers; the responder answered in order
		told echoed
		want wire.RTTCounts
	}{
		"all well":      {[]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, echoed{Answered: 10}, wire.RTTCounts{}},
		"lost both way": {[]uint32{0, 1, 2, 3, 4, 5}, echoed{Answered: 8}, wire.RTTCounts{LostForward: 2, LostBackward: 2}},
		"all lost":      {nil, echoed{}, wire.RTTCounts{LostForward: 10}},
		"swapped":       {[]uint32{1, 0, 2, 3, 4, 5, 6, 7, 9, 8}, echoed{Answered: 10, Reordered: 3}, wire.RTTCounts{Reordered: 5}},
		"doubled":       {[]uint32{0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9}, echoed{Answered: 10, Duplicates: 4}, wire.RTTCounts{Duplicates: 7}},
		// A responder that says less than what came from it.
		"too few told": {[]uint32{0, 1, 2}, echoed{Answered: 1}, wire.RTTCounts{LostForward: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTrips(10, 10)
			for _, seq := range c.came {
				p.takeAt(arriving(made(packet{kind: packetAnswer, seq: seq, number: seq})), at(ms))
			}
			if d := cmp.Diff(c.want, *p.counts(&lastWord{echoed: c.told})); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestLastWordRefused(t *testing.T) {
	for name, c := range map[string]echoed{
		"more answers than queries": {Answered: 11},
		"negative":                  {Answered: -1},
		"more out of order":         {Answered: 3, Reordered: 4},
		"negative order":            {Reordered: -1},
		"negative duplicates":       {Duplicates: -1},
		"negative error":            {ClockErrorUs: -2},
	} {
		if (&lastWord{echoed: c}).check(10) == nil {
			t.Errorf("%s: believed", name)
		}
	}
}

// TestOneWay has the responder's clock an hour ahead: 2 ms there, 3 ms back.
func TestOneWay(t *testing.T) {
	fixed := func(d time.Duration) []trip {
		p := wholeTrip(0)
		p.there -= int64(d)
		return []trip{p}
	}
	for name, c := range map[string]struct {
		trips  []trip
		clocks time.Duration
		want   *oneWay
	}{
		"by the stamps":          {fixed(0), 0, &oneWay{2500 * time.Microsecond, 2500 * time.Microsecond}},
		"clocks that are kept":   {fixed(time.Hour), ms, &oneWay{2 * ms, ms}},
		"clocks kept badly":      {fixed(time.Hour), 3 * ms, &oneWay{2500 * time.Microsecond, 2500 * time.Microsecond}},
		"clocks belied":          {fixed(0), ms, &oneWay{2500 * time.Microsecond, 2500 * time.Microsecond}},
		"no stamps":              {[]trip{{sent: at(0), got: at(ms), answered: true}}, 0, nil},
		"nothing":                {nil, 0, nil},
		"set between the probes": {append(fixed(0), trip{sent: moment{epoch, time.Second}}), 0, nil},
		"drift": {append(fixed(0), wholeTrip(100*time.Second)), 0,
			&oneWay{2500 * time.Microsecond, 5500 * time.Microsecond}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := oneWayDelay(c.trips, c.clocks)
			if ok != (c.want != nil) || ok && got != *c.want {
				t.Errorf("%+v, %v; want %+v", got, ok, c.want)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	answered := func(times ...time.Duration) (all []trip) {
		for _, d := range times {
			all = append(all, trip{sent: at(0), got: at(d), answered: true})
		}
		return all
	}
	got := describeTrips(append(answered(4*ms, 1*ms, 2*ms, 3*ms, 5*ms), trip{}), 0)
	if got.MinMs != 1 || got.P50Ms != 3 || got.MeanMs < 2.999 || got.MeanMs > 3.001 {
		t.Errorf("%+v", *got)
	}
	if got.P99Ms < 4.95 || got.P99Ms > 4.97 || got.StddevMs < 1.581 || got.StddevMs > 1.582 || got.UserP99Ms != got.P99Ms {
		t.Errorf("%+v", *got)
	}
	if got.LossRatio < .166 || got.LossRatio > .167 || got.Probes != 6 || got.Received != 5 {
		t.Errorf("%+v", *got)
	}
	if one := describeTrips(answered(7*ms), 0); one.P99Ms != 7 || one.StddevMs != 0 || one.LossRatio != 0 {
		t.Errorf("%+v", *one)
	}
	if none := describeTrips(make([]trip, 3), 0); none.LossRatio != 1 || none.MinMs != 0 {
		t.Errorf("%+v", *none)
	}
}
