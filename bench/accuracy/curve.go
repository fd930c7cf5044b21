//go:build linux

package main

import (
	"sort"
	"time"

	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/probe/trace"
)

// curve is what a router delivered of a transfer, over time.
type curve []trace.Point

// greetingBytes are what a data connection carries before the payload.
const greetingBytes = 64

// newCurve begins at the first delivery of payload.
func newCurve(samples []router.FlowSample) (c curve) {
	for _, s := range samples {
		if s.Bytes <= greetingBytes {
			continue
		}
		if len(c) == 0 {
			c = append(c, trace.Point{})
		}
		c = append(c, trace.Point{At: s.At, Bytes: s.Bytes - greetingBytes})
	}
	if len(c) == 0 {
		return nil
	}
	begin := c[1].At
	for i := range c[1:] {
		c[i+1].At -= begin
	}
	return c[1:]
}

// until is the curve without what came later: a connection may go on after its
// test.
func (c curve) until(at time.Duration) curve {
	n := sort.Search(len(c), func(i int) bool { return c[i].At > at })
	return c[:n]
}

func (c curve) end() time.Duration {
	if len(c) == 0 {
		return 0
	}
	return c[len(c)-1].At
}

// bytesAt is between two samples interpolated.
func (c curve) bytesAt(at time.Duration) float64 {
	i := sort.Search(len(c), func(i int) bool { return c[i].At >= at })
	switch {
	case len(c) == 0 || i == 0:
		return 0
	case i == len(c):
		return float64(c[i-1].Bytes)
	}
	a, b := c[i-1], c[i]
	return float64(a.Bytes) + float64(b.Bytes-a.Bytes)*float64(at-a.At)/float64(b.At-a.At)
}

// bps is the rate between two moments; 0 if there is no time between.
func (c curve) bps(from, to time.Duration) float64 {
	if to <= from {
		return 0
	}
	return 8 * (c.bytesAt(to) - c.bytesAt(from)) / (to - from).Seconds()
}

// reaches is when so many bytes had been delivered; the end if never.
func (c curve) reaches(bytes int64) time.Duration {
	i := sort.Search(len(c), func(i int) bool { return c[i].Bytes >= bytes })
	if i == len(c) {
		return c.end()
	}
	return c[i].At
}
