package trace

import (
	"math"
	"slices"
	"testing"
	"time"
)

// simulate logs a test of the given length, sampled each 10 ms, from the rate
// in bytes per second at each moment.
func simulate(length, srtt time.Duration, rate func(t time.Duration) float64) Log {
	const step = 10 * time.Millisecond
	l := Log{{SRTT: srtt, Fed: true, Whole: true}}
	sum := 0.0
	for at := step; at <= length; at += step {
		sum += rate(at) * step.Seconds()
		l = append(l, Sample{At: at, Acked: int64(sum), SRTT: srtt, Fed: true, Whole: true})
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
		log    Log
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
		{"ends in slow start", simulate(time.Second, 200*ms, slowStart(200*ms, 1e9)), 500 * ms, 700 * ms, 0, []string{FlagSlowStart}, 0},
		{"few rounds", simulate(3*time.Second, 220*ms, slowStart(220*ms, full)), 1500 * ms, 2400 * ms, full, []string{FlagFewRounds}, .05},
		{"creeps up", simulate(3*time.Second, 50*ms, func(t time.Duration) float64 {
			return min(1e6*(1+t.Seconds()), slowStart(50*ms, full)(t))
		}), 100 * ms, 2500 * ms, 0, []string{FlagGrowing}, 0},
		{"nothing", Log{{Fed: true, Whole: true}}, 0, 0, 0, []string{FlagSlowStart}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.log.Steady()
			from := tt.log[p.From].At
			if from < tt.low || from > tt.high {
				t.Errorf("steady from %v, want %v to %v", from, tt.low, tt.high)
			}
			if got := tt.log.Rate(p.From, p.To); tt.want > 0 && math.Abs(got/tt.want-1) > tt.within {
				t.Errorf("rate %.0f, want %.0f", got, tt.want)
			}
			if got := tt.log.Flags(p); !slices.Equal(got, tt.flags) {
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
		l[i].Fed = l[i].At <= 1500*time.Millisecond
	}
	p := l.Steady()
	if got := l.Rate(p.From, p.To); math.Abs(got-3e6) > 1e4 {
		t.Errorf("rate %.0f, want 3e6", got)
	}
}

func TestSteadyPrefersWholeMarks(t *testing.T) {
	l := simulate(3*time.Second, 50*time.Millisecond, func(time.Duration) float64 { return 1e6 })
	hole := func(at time.Duration) bool {
		return at < 600*time.Millisecond || at > 2900*time.Millisecond
	}
	for i := range l {
		l[i].Whole = !hole(l[i].At)
	}
	if p := l.Steady(); !l.Whole(p) || l[p.From].At < 600*time.Millisecond {
		t.Errorf("marks at %v and %v", l[p.From].At, l[p.To].At)
	}
}

// FuzzSteady: whatever a kernel says, the part lies within the log.
func FuzzSteady(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 200, 100, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		l := Log{{Fed: true}}
		for i, b := range data {
			last := l[len(l)-1]
			l = append(l, Sample{
				At:    last.At + time.Duration(b%32)*time.Millisecond,
				Acked: last.Acked + int64(b)*int64(i), Sacked: int64(b >> 4),
				SRTT: time.Duration(b) * time.Millisecond, Fed: b&1 > 0, Whole: b&2 > 0,
			})
		}
		p := l.Steady()
		if p.From < 0 || p.To >= len(l) || p.From > p.To {
			t.Fatalf("part %+v of %d", p, len(l))
		}
		l.Flags(p)
		for _, congestion := range []string{"bbr", "cubic"} {
			if got := l.Limit(p, Facts{CongestionControl: congestion}); got.By == "" || got.Evidence == "" || len(got.Evidence) > 400 {
				t.Fatalf("%+v", got)
			}
		}
		if c := l.WindowCeiling(p); !(c >= 0) {
			t.Fatalf("ceiling %v", c)
		}
	})
}
