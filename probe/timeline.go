//go:build linux

package probe

import (
	"encoding/json"
	"errors"
	"sort"
	"time"
)

// point says how much the receiver had counted when. On the wire it is the
// pair [microseconds since the first byte, bytes].
type point struct {
	at    time.Duration // since the first byte
	bytes int64
}

func (p point) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]int64{p.at.Microseconds(), p.bytes})
}

func (p *point) UnmarshalJSON(b []byte) error {
	var pair []int64
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return errors.New("a point is [microseconds, bytes]")
	}
	p.at, p.bytes = time.Duration(pair[0])*time.Microsecond, pair[1]
	return nil
}

// timeline is a receiver's count over its own time, never falling.
type timeline []point

// maxPoints bounds what a peer can make a client remember; an honest one
// spaces its points by sampleInterval.
const maxPoints = 2 * samplesPerTest

// add appends points, each as long as it is neither before nor below the last.
func (t *timeline) add(points []point) error {
	if len(*t)+len(points) > maxPoints {
		return errors.New("peer sent too many samples")
	}
	for _, p := range points {
		last := t.last()
		if p.at < last.at || p.bytes < last.bytes {
			return errors.New("peer's samples run backwards")
		}
		*t = append(*t, p)
	}
	return nil
}

func (t timeline) last() point {
	if len(t) == 0 {
		return point{}
	}
	return t[len(t)-1]
}

// passed is when the count first reached bytes, interpolated between the
// points around it; the last point's time if it never did.
func (t timeline) passed(bytes int64) time.Duration {
	i := sort.Search(len(t), func(i int) bool { return t[i].bytes >= bytes })
	if i == len(t) {
		return t.last().at
	}
	var before point
	if i > 0 {
		before = t[i-1]
	}
	share := 1.0
	if gain := t[i].bytes - before.bytes; gain > 0 {
		share = float64(bytes-before.bytes) / float64(gain)
	}
	return before.at + time.Duration(share*float64(t[i].at-before.at))
}

// at is the count at a moment, interpolated between the points around it.
func (t timeline) at(moment time.Duration) int64 {
	i := sort.Search(len(t), func(i int) bool { return t[i].at >= moment })
	if i == len(t) {
		return t.last().bytes
	}
	var before point
	if i > 0 {
		before = t[i-1]
	}
	share := 1.0
	if span := t[i].at - before.at; span > 0 {
		share = float64(moment-before.at) / float64(span)
	}
	return before.bytes + int64(share*float64(t[i].bytes-before.bytes))
}

// Both sides sample each 10 ms, and less often in tests so long that this
// would be more than samplesPerTest.
const samplesPerTest = 50_000

func sampleInterval(deadline time.Duration) time.Duration {
	return max(10*time.Millisecond, deadline/samplesPerTest)
}
