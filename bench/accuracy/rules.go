//go:build linux

package main

import (
	"math"
	"time"
)

// stop is what a rule makes of a test: it ends it at a moment and believes in a
// rate.
type stop struct {
	at  time.Duration
	bps float64
}

// rule ends a test early. It sees the router's record of a long test.
type rule struct {
	name string
	end  func(c curve, rtt time.Duration) stop
}

// fullTest is the test that the rules want to shorten, and their limit.
const fullTest = 10 * time.Second

// rules are what other tools do.
var rules = []rule{
	{"ten seconds, whole", func(c curve, _ time.Duration) stop { return stop{fullTest, c.bps(0, fullTest)} }},
	{"ten seconds, last half", func(c curve, _ time.Duration) stop {
		return stop{fullTest, c.bps(fullTest/2, fullTest)}
	}},
	{"out of BBR's start-up", startUpIsOver},
	{"stable for a second", stableForASecond},
	{"10 MB", tenMegabytes},
}

func tenMegabytes(c curve, _ time.Duration) stop {
	at := min(c.reaches(10_000_000), fullTest)
	return stop{at, c.bps(0, at)}
}

// startUpIsOver is BBR's own test of a full pipe (draft-ietf-ccwg-bbr, 5.3.1.2):
// three rounds in a row in which the delivery rate grew by less than a quarter.
// A round is a round trip, and three samples at least.
func startUpIsOver(c curve, rtt time.Duration) stop {
	round := max(rtt, 3*sampleEvery)
	best, flat := 0.0, 0
	for at := round; at <= fullTest; at += round {
		bps := c.bps(at-round, at)
		if bps >= best*1.25 {
			best, flat = bps, 0
			continue
		}
		if flat++; flat == 3 {
			return stop{at, bps}
		}
	}
	return stop{fullTest, c.bps(fullTest-round, fullTest)}
}

// stableForASecond ends when the last five fifths of a second are all within
// 5 % of their mean.
func stableForASecond(c curve, _ time.Duration) stop {
	const fifth = time.Second / 5
	for at := time.Second; at <= fullTest; at += fifth {
		mean := c.bps(at-time.Second, at)
		stable := mean > 0
		for i := range time.Duration(5) {
			bps := c.bps(at-(i+1)*fifth, at-i*fifth)
			stable = stable && math.Abs(bps/mean-1) <= 0.05
		}
		if stable {
			return stop{at, mean}
		}
	}
	return stop{fullTest, c.bps(fullTest-time.Second, fullTest)}
}

// probeRTTPeriod is how often BBR empties the path for 0.2 s.
const probeRTTPeriod = 10 * time.Second

// reference is the rate that a path carries in the long run: of whole periods
// of BBR's at the end of the long test, which begin after 2 s at least. Of a
// test too short for that it is its last two thirds.
func reference(c curve) float64 {
	end := c.end()
	whole := (end - 2*time.Second) / probeRTTPeriod * probeRTTPeriod
	if whole <= 0 {
		whole = end * 2 / 3
	}
	return c.bps(end-whole, end)
}

// steadyPath says whether no second of the long test's reference is off by more
// than a tenth, BBR's pauses aside: one second in ten may be.
func steadyPath(c curve) bool {
	mean := reference(c)
	seconds, off := 0, 0
	for at := 3 * time.Second; at <= c.end(); at += time.Second {
		seconds++
		if math.Abs(c.bps(at-time.Second, at)/mean-1) > 0.1 {
			off++
		}
	}
	return seconds > 0 && 10*off <= seconds
}
