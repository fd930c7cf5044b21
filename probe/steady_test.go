//go:build linux

package probe

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// simulate logs a test of the given length, sampled each 10 ms, from the rate
// in bytes per second at each moment.
func simulate(length, srtt time.Duration, rate func(t time.Duration) float64) sendLog {
	const step = 10 * time.Millisecond
	l := sendLog{{srtt: srtt, busy: true, whole: true}}
	sum := 0.0
	for at := step; at <= length; at += step {
		sum += rate(at) * step.Seconds()
		l = append(l, sendSample{at: at, acked: int64(sum), srtt: srtt, busy: true, whole: true})
	}
	return l
}

// slowStart doubles each round trip, from a tenth segment's worth, up to full.
func slowStart(srtt time.Duration, full float64) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		rounds := float64(t) / float64(srtt)
		return min(full, 15_000/srtt.Seconds()*math.Exp2(rounds))
	}
}

// bursts is slow start as it is without pacing: a window at the beginning of
// each round trip, nothing in the rest of it.
func bursts(srtt time.Duration, full float64) func(time.Duration) float64 {
	smooth := slowStart(srtt, full)
	return func(t time.Duration) float64 {
		rate := smooth(t - t%srtt)
		share := rate / full // of the time
		if float64(t%srtt) > share*float64(srtt)+float64(10*time.Millisecond) {
			return 0
		}
		return min(full, rate*float64(srtt)/float64(10*time.Millisecond))
	}
}

func TestSteady(t *testing.T) {
	const full = 12.5e6 // 100 Mbit/s
	ms := time.Millisecond
	tests := []struct {
		name   string
		log    sendLog
		low    time.Duration // slow start ends in low to high
		high   time.Duration
		want   float64 // bytes per second
		flags  []string
		within float64
	}{
		{"short path", simulate(3*time.Second, ms, slowStart(ms, full)), 60 * ms, 150 * ms, full, nil, .01},
		{"80 ms", simulate(3*time.Second, 80*ms, slowStart(80*ms, full)), 400 * ms, 800 * ms, full, nil, .01},
		{"80 ms, bursts", simulate(3*time.Second, 80*ms, bursts(80*ms, full)), 400 * ms, 900 * ms, full, nil, .05},
		{"200 ms, bursts", simulate(5*time.Second, 200*ms, bursts(200*ms, full)), 1200 * ms, 2000 * ms, full, nil, .05},
		{"pause in the growth", simulate(3*time.Second, 50*ms, func(t time.Duration) float64 {
			if t < 400*ms {
				return 1e5
			}
			return slowStart(50*ms, full)(t - 300*ms)
		}), 600 * ms, 1000 * ms, full, nil, .01},
		{"ends in slow start", simulate(time.Second, 200*ms, slowStart(200*ms, 1e9)), 500 * ms, 700 * ms, 0, []string{wire.FlagSlowStart}, 0},
		{"few rounds", simulate(3*time.Second, 220*ms, slowStart(220*ms, full)), 1500 * ms, 2400 * ms, full, []string{wire.FlagFewRounds}, .05},
		{"creeps up", simulate(3*time.Second, 50*ms, func(t time.Duration) float64 {
			return min(1e6*(1+t.Seconds()), slowStart(50*ms, full)(t))
		}), 100 * ms, 2500 * ms, 0, []string{wire.FlagGrowing}, 0},
		{"nothing", sendLog{{busy: true, whole: true}}, 0, 0, 0, []string{wire.FlagSlowStart}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.log.steady()
			from := tt.log[p.from].at
			if from < tt.low || from > tt.high {
				t.Errorf("steady from %v, want %v to %v", from, tt.low, tt.high)
			}
			if got := tt.log.rate(p.from, p.to); tt.want > 0 && math.Abs(got/tt.want-1) > tt.within {
				t.Errorf("rate %.0f, want %.0f", got, tt.want)
			}
			if got := tt.log.flags(p); !slices.Equal(got, tt.flags) {
				t.Errorf("flags %v, want %v", got, tt.flags)
			}
		})
	}
}

func TestSteadyLeavesOutTheTail(t *testing.T) {
	l := simulate(2*time.Second, 10*time.Millisecond, func(t time.Duration) float64 {
		if t > 1500*time.Millisecond {
			return 9e6 // one stream of many has the path for itself
		}
		return 3e6
	})
	for i := range l {
		l[i].busy = l[i].at <= 1500*time.Millisecond
	}
	p := l.steady()
	if got := l.rate(p.from, p.to); math.Abs(got-3e6) > 1e4 {
		t.Errorf("rate %.0f, want 3e6", got)
	}
}

func TestSteadyPrefersWholeMarks(t *testing.T) {
	l := simulate(3*time.Second, 50*time.Millisecond, func(time.Duration) float64 { return 1e6 })
	hole := func(at time.Duration) bool {
		return at < 600*time.Millisecond || at > 2900*time.Millisecond
	}
	for i := range l {
		l[i].whole = !hole(l[i].at)
	}
	if p := l.steady(); !l.whole(p) || l[p.from].at < 600*time.Millisecond {
		t.Errorf("marks at %v and %v", l[p.from].at, l[p.to].at)
	}
}

// FuzzSteady: whatever a kernel says, the part lies within the log.
func FuzzSteady(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 200, 100, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		l := sendLog{{busy: true}}
		for i, b := range data {
			last := l[len(l)-1]
			l = append(l, sendSample{
				at:    last.at + time.Duration(b%32)*time.Millisecond,
				acked: last.acked + int64(b)*int64(i), sacked: int64(b >> 4),
				srtt: time.Duration(b) * time.Millisecond, busy: b&1 > 0, whole: b&2 > 0,
			})
		}
		p := l.steady()
		if p.from < 0 || p.to >= len(l) || p.from > p.to {
			t.Fatalf("part %+v of %d", p, len(l))
		}
		l.flags(p)
	})
}
