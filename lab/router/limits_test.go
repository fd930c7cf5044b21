//go:build linux

package router

import (
	"math"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/lab/world"
)

func TestPolicerLetsTheRatePass(t *testing.T) {
	p := newPolicer(8e6, 15_000)
	var passed int
	for at := time.Duration(0); at < 10*time.Second; at += 500 * time.Microsecond { // 24 Mbit/s
		if room, limited := p.room(at); limited && room >= 1500 {
			p.take(1500)
			passed += 1500
		}
	}
	if want := 10_000_000 + 15_000; math.Abs(float64(passed-want)) > 2*1500 {
		t.Errorf("%d bytes of 10 s at 8 Mbit/s passed, want %d", passed, want)
	}
	if _, limited := new(policer).room(time.Second); limited {
		t.Error("the zero policer is limited")
	}
}

func TestPolicerBearsWhatComesBeforeItsTime(t *testing.T) {
	p := newPolicer(8e6, 15_000)
	p.room(time.Second)
	p.take(15_000)
	for _, at := range []time.Duration{time.Second / 2, time.Second} {
		if room, _ := p.room(at); room != 0 {
			t.Errorf("%d bytes of room at %s", room, at)
		}
	}
}

// burstable sends at 100 Mbit/s for 10 MB, and at 20 Mbit/s in the long run.
func burstable() shaper {
	return newMachineShaper(100e6, world.Allowance{BaselineBps: 20e6, BurstBytes: 10e6})
}

// offer sends as much as there is room for and returns what went through until
// a time.
func offer(s *shaper, from, until time.Duration) (sent int) {
	for at := from; at < until; at += 100 * time.Microsecond {
		for room, _ := s.room(at); room >= 1500; room, _ = s.room(at) {
			s.take(at, 1500)
			sent += 1500
		}
	}
	return sent - int(max(0, s.clear(until)-until).Seconds()*20e6/8)
}

func TestBurstIsSpentOnce(t *testing.T) {
	s := burstable()
	// The bucket is emptied at 80 Mbit/s, the rate less what it earns.
	if got := offer(&s, 0, time.Second); math.Abs(float64(got)/12.5e6-1) > 0.02 {
		t.Errorf("%d bytes in the first second, want the link's 12.5 MB", got)
	}
	if got := offer(&s, time.Second, 11*time.Second); math.Abs(float64(got)/25e6-1) > 0.02 {
		t.Errorf("%d bytes in ten seconds after the burst, want the baseline's 25 MB", got)
	}
	if got := offer(&s, 13*time.Second, 14*time.Second); math.Abs(float64(got)/7.5e6-1) > 0.05 {
		t.Errorf("%d bytes in a second after two of silence, want 7.5 MB: what three seconds earned", got)
	}
}

func TestDropsCostNoTokens(t *testing.T) {
	s := burstable()
	var sent int
	for at := time.Duration(0); at < 2*time.Second; at += time.Millisecond {
		room, _ := s.room(at)
		n := min(room, 1<<20) / 1500 * 1500 // all the rest of a gigabyte a second is dropped
		s.take(at, n)
		sent += n
	}
	if want := 10e6 + 2*2.5e6 + 0.1*2.5e6; math.Abs(float64(sent)/want-1) > 0.02 {
		t.Errorf("%d bytes, want %v: the burst, the baseline, and what waits", sent, want)
	}
}

func TestQueuesAreTheWorlds(t *testing.T) {
	w := flat(t, 100e6, "delay_ms: 5, flow_bps: 10e6, queue_ms: 40")
	w.Regions[0].QueueMs = 20
	r, from, to := quiet(t, w)
	flow := r.path("lab:a", "lab:b").newFlowShaper()
	for name, c := range map[string]struct {
		s    *shaper
		want int
	}{
		"flow's":                   {&flow, 50_000},
		"machine's":                {&from.egress, 250_000},
		"another machine's":        {&to.ingress, 1_250_000},
		"of two packets":           {func() *shaper { s := newShaper(10e6, 0); s.setQueue(1); return &s }(), 3000},
		"without one of one's own": {func() *shaper { s := newShaper(10e6, 0); s.setQueue(0); return &s }(), 125_000},
	} {
		if room, _ := c.s.room(0); math.Abs(float64(room-c.want)) > 1 {
			t.Errorf("%s queue has room for %d bytes, want %d", name, room, c.want)
		}
	}
}

func TestPolicerCutsSuperPackets(t *testing.T) {
	r, from, to := quiet(t, flat(t, 0, "delay_ms: 5, police_bps: 8e6, police_burst_bytes: 15000"))
	path := r.path("lab:a", "lab:b")
	r.send(from, &flight{Packet: superPacket(t, 40), memory: r.memory.get(60000), path: path, half: &half{}, to: to}, 0)
	var arrived int
	for f := r.schedule.pop(time.Hour); f != nil; f = r.schedule.pop(time.Hour) {
		arrived += f.Segments()
		r.memory.put(f.memory)
	}
	if arrived != 10 || path.count.Dropped != (Drops{Policer: 30}) || r.memory.used != 0 {
		t.Errorf("%d arrive, %+v, %d bytes leak", arrived, path.count.Dropped, r.memory.used)
	}
}
