//go:build linux

package probe

import (
	"errors"
	"sort"
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
)

// point is what a receiver had counted by a moment.
type point = trace.Point

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
		if p.At < last.At || p.Bytes < last.Bytes {
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
	i := sort.Search(len(t), func(i int) bool { return t[i].Bytes >= bytes })
	if i == len(t) {
		return t.last().At
	}
	a, b := t[:i].last(), t[i]
	return a.At + time.Duration(share(a.Bytes, b.Bytes, bytes)*float64(b.At-a.At))
}

// at is the count at a moment, interpolated between the points around it.
func (t timeline) at(moment time.Duration) int64 {
	i := sort.Search(len(t), func(i int) bool { return t[i].At >= moment })
	if i == len(t) {
		return t.last().Bytes
	}
	a, b := t[:i].last(), t[i]
	return a.Bytes + int64(share(a.At, b.At, moment)*float64(b.Bytes-a.Bytes))
}

// share is how far x lies on the way from a to b; 1 if that is no way at all.
func share[T ~int64](a, b, x T) float64 {
	if b <= a {
		return 1
	}
	return float64(x-a) / float64(b-a)
}

// Both sides sample each 10 ms, and less often in tests so long that this
// would be more than samplesPerTest.
const samplesPerTest = 50_000

func sampleInterval(deadline time.Duration) time.Duration {
	return max(10*time.Millisecond, deadline/samplesPerTest)
}
