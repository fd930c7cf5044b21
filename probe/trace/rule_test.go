package trace

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// stopAt is when the rule ends a test that goes as the log does; 0 if it never
// does.
func stopAt(r *Rule, l Log) (Log, bool) {
	for i := range l {
		if r.Enough(l[:i+1]) {
			return l[:i+1], true
		}
	}
	return l, false
}

// queueing gives a log the round trips of a full queue from a moment on.
func queueing(l Log, from, queue time.Duration) Log {
	for i := range l {
		l[i].MinRTT = l[i].SRTT
		if l[i].At >= from {
			l[i].SRTT += queue
		}
	}
	return l
}

// partly leaves what is less than a segment unsent, as a program does that writes
// what it likes.
func partly(l Log) Log {
	for i := range l {
		l[i].Unsent = 1 + int64(i*631%1447)
	}
	return l
}

func TestRule(t *testing.T) {
	const full = 12.5e6 // 100 Mbit/s
	ms := time.Millisecond
	noise := rand.New(rand.NewPCG(1, 2))
	wavering := func(srtt time.Duration, by float64) func(time.Duration) float64 {
		smooth := slowStart(srtt, full)
		return func(at time.Duration) float64 { return smooth(at) * (1 + by*noise.NormFloat64()) }
	}
	tests := []struct {
		name       string
		congestion string
		log        Log
		low, high  time.Duration // it ends between these; 0: never
		flags      []string
	}{
		{"short path", "bbr", simulate(10*time.Second, 2*ms, slowStart(2*ms, full)), 300 * ms, 800 * ms, nil},
		{"80 ms", "bbr", simulate(10*time.Second, 80*ms, slowStart(80*ms, full)), 700 * ms, 1600 * ms, nil},
		{"slow link", "bbr", simulate(10*time.Second, 20*ms, slowStart(20*ms, 1.25e6)), 600 * ms, 2000 * ms, nil},
		{"in slow start all the time", "bbr", simulate(2*time.Second, 250*ms, slowStart(250*ms, 1e9)), 0, 0, []string{FlagTimeCap}},
		{"grows on", "bbr", simulate(3*time.Second, 50*ms, func(at time.Duration) float64 {
			return min(1e6*math.Exp2(at.Seconds()*2), slowStart(50*ms, full)(at))
		}), 0, 0, []string{FlagTimeCap}},
		{"wavers by 3 %", "bbr", simulate(10*time.Second, 50*ms, wavering(50*ms, .03)), 500 * ms, 2 * time.Second, nil},
		{"cubic with a queue", "cubic", queueing(simulate(10*time.Second, 40*ms, slowStart(40*ms, full)), 500*ms, 20*ms), 600 * ms, 2 * time.Second, []string{FlagLossUnseen}},
		{"cubic, few packets on their way", "cubic", queueing(simulate(10*time.Second, 5*ms, slowStart(5*ms, 1.25e6)), 100*ms, 20*ms), 500 * ms, 2 * time.Second, nil},
		{"cubic, paced by the program", "cubic", partly(simulate(10*time.Second, 40*ms, slowStart(40*ms, full))), 400 * ms, 2 * time.Second, nil},
		{"cubic, nothing to see", "cubic", simulate(10*time.Second, 40*ms, slowStart(40*ms, full)), 0, 0, []string{FlagTimeCap}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.log {
				tt.log[i].Sent = tt.log[i].Acked
				if tt.log[i].Unsent == 0 {
					tt.log[i].Unsent = 1448
				}
				if tt.log[i].MinRTT == 0 {
					tt.log[i].MinRTT = tt.log[i].SRTT
				}
			}
			r := NewRule(tt.congestion, 1448, 1, .05)
			l, known := stopAt(r, tt.log)
			end := l[len(l)-1].At
			if known != (tt.high > 0) || known && (end < tt.low || end > tt.high) {
				t.Errorf("known %v at %v, want %v to %v", known, end, tt.low, tt.high)
			}
			if flags := r.Flags(l, nil, known); !slices.Equal(flags, tt.flags) {
				t.Errorf("flags %v, want %v", flags, tt.flags)
			}
		})
	}
}

// A window that losses cut in half again and again is known when its mean is.
func TestRuleUnderLosses(t *testing.T) {
	const srtt = 20 * time.Millisecond
	window, sent, repeated := 0.0, 0.0, int64(0)
	l := Log{{SRTT: srtt, MinRTT: srtt, Fed: true, Whole: true}}
	for at := 10 * time.Millisecond; at < 30*time.Second; at += 10 * time.Millisecond {
		window += 1 // segment per sample
		if window > 40 {
			window, repeated = 20, repeated+1448
		}
		sent += window * 1448 / 2
		l = append(l, Sample{At: at, Acked: int64(sent), Sent: int64(sent), Repeated: repeated, Window: int64(window * 1448),
			SRTT: srtt, MinRTT: srtt, Unsent: 1448, Fed: true, Whole: true})
	}
	r := NewRule("cubic", 1448, 1, .05)
	got, known := stopAt(r, l)
	if !known {
		t.Fatalf("never known; flags %v", r.Flags(got, nil, false))
	}
	want, p := l.Rate(100, len(l)-1), got.Steady()
	if rate := got.Rate(p.From, p.To); math.Abs(rate/want-1) > .06 {
		t.Errorf("rate %.0f after %v, want %.0f", rate, got[len(got)-1].At, want)
	}

	short := l[:150]
	r = NewRule("cubic", 1448, 1, .05)
	if _, known := stopAt(r, short); known {
		t.Error("known after a few losses")
	}
	if flags := r.Flags(short, []string{FlagFewRounds}, false); !slices.Equal(flags, []string{FlagTimeCap, FlagLossRegulated}) {
		t.Errorf("flags %v", flags)
	}
}

func TestInterval(t *testing.T) {
	rates := func(v ...float64) (rounds []round) {
		for _, x := range v {
			rounds = append(rounds, round{rate: x})
		}
		return rounds
	}
	for _, tt := range []struct {
		name       string
		rounds     []round
		mean, half float64
	}{
		{"none", nil, 0, math.Inf(1)},
		{"two", rates(1, 3), 2, math.Inf(1)},
		{"equal", rates(5, 5, 5), 5, 0},
		{"independent", rates(8, 10, 12, 10), 10, 3.182 * 1.63299 / 2},
		{"in turns", rates(9, 11, 9, 11), 10, 3.182 * 1.1547 / 2 / math.Sqrt(3)},
		// Lag-one correlation .25 of 1, 2, 3, 4: 1.667 for the width.
		{"rising", rates(1, 2, 3, 4), 2.5, 3.182 * 1.29099 / 2 * math.Sqrt(1.25/.75)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mean, half := interval(tt.rounds)
			if mean != tt.mean || math.Abs(half-tt.half) > 1e-3*tt.half {
				t.Errorf("%v ± %v, want %v ± %v", mean, half, tt.mean, tt.half)
			}
		})
	}
}

// TestStudent holds the approximation to a table of the distribution.
func TestStudent(t *testing.T) {
	for df, want := range map[int]float64{1: 12.71, 4: 2.776, 7: 2.365, 10: 2.228, 30: 2.042, 120: 1.980} {
		if got := student(df); math.Abs(got/want-1) > .01 {
			t.Errorf("student(%d) = %v, want %v", df, got, want)
		}
	}
}

// FuzzRule: whatever a kernel says, the rule answers.
func FuzzRule(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 200, 100, 3}, true)
	f.Fuzz(func(t *testing.T, data []byte, lossBased bool) {
		l := Log{{Fed: true}}
		r := NewRule(map[bool]string{true: "cubic", false: "bbr"}[lossBased], 1448, 1, .05)
		for i, b := range data {
			last := l[len(l)-1]
			l = append(l, Sample{
				At:    last.At + time.Duration(b%32)*time.Millisecond,
				Acked: last.Acked + int64(b)*int64(i), Sent: last.Sent + int64(b)<<10, Sacked: int64(b >> 4),
				SRTT: time.Duration(b) * time.Millisecond, Window: int64(b), Fed: b&1 > 0, Whole: b&2 > 0,
			})
			if r.Enough(l) {
				break
			}
		}
		r.Flags(l, l.Flags(l.Steady()), false)
		if e := l.ErrorRatio(l.Steady()); math.IsNaN(e) || e < 0 {
			t.Fatalf("error ratio %v", e)
		}
	})
}
