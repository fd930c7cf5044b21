//go:build linux

package main

import (
	"encoding/json"
	"sort"
	"time"

	"github.com/antipode-bench/antipode/lab/router"
)

// point is a moment of a transfer: so many bytes of payload had been delivered.
type point struct {
	at    time.Duration // since the first payload
	bytes int64
}

// MarshalJSON writes the pair [microseconds, bytes].
func (p point) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]int64{p.at.Microseconds(), p.bytes})
}

func (p *point) UnmarshalJSON(b []byte) error {
	var pair [2]int64
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	p.at, p.bytes = time.Duration(pair[0])*time.Microsecond, pair[1]
	return nil
}

// curve is what a router delivered of a transfer, over time.
type curve []point

// greetingBytes are what a data connection carries before the payload.
const greetingBytes = 64

// newCurve begins at the first delivery of payload.
func newCurve(samples []router.FlowSample) (c curve) {
	for _, s := range samples {
		if s.Bytes <= greetingBytes {
			continue
		}
		if len(c) == 0 {
			c = append(c, point{})
		}
		c = append(c, point{s.At, s.Bytes - greetingBytes})
	}
	if len(c) == 0 {
		return nil
	}
	begin := c[1].at
	for i := range c[1:] {
		c[i+1].at -= begin
	}
	return c[1:]
}

// until is the curve without what came later: a connection may go on after its
// test.
func (c curve) until(at time.Duration) curve {
	n := sort.Search(len(c), func(i int) bool { return c[i].at > at })
	return c[:n]
}

func (c curve) end() time.Duration {
	if len(c) == 0 {
		return 0
	}
	return c[len(c)-1].at
}

// bytesAt is between two samples interpolated.
func (c curve) bytesAt(at time.Duration) float64 {
	i := sort.Search(len(c), func(i int) bool { return c[i].at >= at })
	switch {
	case len(c) == 0 || i == 0:
		return 0
	case i == len(c):
		return float64(c[i-1].bytes)
	}
	a, b := c[i-1], c[i]
	return float64(a.bytes) + float64(b.bytes-a.bytes)*float64(at-a.at)/float64(b.at-a.at)
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
	i := sort.Search(len(c), func(i int) bool { return c[i].bytes >= bytes })
	if i == len(c) {
		return c.end()
	}
	return c[i].at
}
