//go:build linux

package probe

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

func acked(bytes int64) totals {
	return totals{Sample: trace.Sample{Acked: bytes}, segments: bytes / 1000}
}

func TestStreamsShareTheSteadyPart(t *testing.T) {
	const step = 10 * time.Millisecond
	s := newStreams([]totals{acked(64), acked(64)})
	for i := int64(1); i <= 100; i++ { // the first does all the second half
		one := 64 + i*1000 + max(0, i-50)*1000
		two := 64 + min(i, 50)*3000
		s.add(time.Duration(i)*step, []totals{acked(one), acked(two)})
	}
	got := s.results([]int64{150_000, 150_000}, 25*step, 75*step, 8e6)
	// 25 to 75: the first 25 + 50 thousand, the second 75 thousand.
	if math.Abs(got[0].GoodputBps-4e6) > 1 || math.Abs(got[1].GoodputBps-4e6) > 1 || got[0].Bytes != 150_000 {
		t.Errorf("%+v", got)
	}
	got = s.results(nil, 50*step, 100*step, 8e6)
	if got[0].GoodputBps != 8e6 || got[1].GoodputBps != 0 || got[1].Bytes != 150_000 {
		t.Errorf("without a count: %+v", got)
	}
	for _, r := range s.results(nil, 0, 0, 8e6) {
		if r.GoodputBps != 0 {
			t.Errorf("a rate of no time: %+v", r)
		}
	}
}

func TestStreamSamplesAreBounded(t *testing.T) {
	base := make([]totals, wire.MaxStreams)
	s := newStreams(base)
	for i := 1; i <= 5000; i++ {
		each := make([]totals, len(base))
		for j := range each {
			each[j] = acked(int64(i * 1000))
		}
		s.add(time.Duration(i)*time.Millisecond, each)
	}
	log := s.logs[7]
	if n := len(s.logs) * len(log); n > maxStreamSamples || n < maxStreamSamples/4 {
		t.Errorf("%d samples", n)
	}
	if got := log.AckedAt(2500 * time.Millisecond); math.Abs(got-2.5e6) > 1 {
		t.Errorf("acknowledged at half time: %v", got)
	}
}

// TestLongestResult has the largest values that a test of an hour can have.
func TestLongestResult(t *testing.T) {
	full := trace.Sample{At: time.Hour, Fed: true, Whole: true}
	for _, p := range []*int64{&full.Acked, &full.Sacked, &full.Sent, &full.Repeated, &full.Window, &full.PeerWindow, &full.Unacked, &full.Unsent} {
		*p = wire.MaxBytes
	}
	for _, p := range []*time.Duration{&full.SRTT, &full.MinRTT, &full.Busy, &full.ReceiveWindowFor, &full.SendBufferFor} {
		*p = time.Hour
	}
	for _, n := range []int{1, 2, wire.MaxStreams} {
		s := sender{limit: wire.Throughput{SampleMs: 1}, streams: newStreams(make([]totals, n)), received: timeline{{At: 0, Bytes: wire.MaxBytes}}}
		for range n {
			s.conns = append(s.conns, nil)
		}
		for i := range 10_000 {
			full.At = time.Duration(i) * time.Hour / 10_000
			s.log = append(s.log, full)
			for j := range s.streams.logs {
				s.streams.logs[j] = append(s.streams.logs[j], full)
			}
		}
		r := &wire.ThroughputResult{PerStream: make([]wire.StreamResult, n)}
		s.fillSamples(r, time.Millisecond)
		var line bytes.Buffer
		if err := wire.NewWriter(&line).Write(wire.Response{Throughput: r}); err != nil {
			t.Errorf("%d streams: %v", n, err)
		}
		t.Logf("%d streams: %d bytes", n, line.Len())
	}
}

func TestCountsThatLie(t *testing.T) {
	for name, c := range map[string]struct {
		count
		want string // empty: honest
	}{
		"honest":         {count{100, 5, []int64{60, 40}}, ""},
		"nothing":        {count{0, 0, []int64{0, 0}}, ""},
		"more than sent": {count{1001, 5, []int64{1001, 0}}, "1001 bytes of 1000"},
		"negative":       {count{-1, 5, []int64{-1, 0}}, "peer counts -1 bytes"},
		"overflowing":    {count{math.MaxInt64, 5, []int64{math.MaxInt64, math.MaxInt64}}, "peer counts"},
		"negative part":  {count{100, 5, []int64{-100, 200}}, "-100 bytes of a stream"},
		"no whole":       {count{100, 5, []int64{60, 60}}, "120 bytes in 2 of 2 streams"},
		"a stream less":  {count{100, 5, []int64{100}}, "in 1 of 2 streams"},
		"before it was":  {count{100, -5, []int64{60, 40}}, "for -5 us"},
	} {
		err := c.count.check(2, 1000)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestTimelineAt(t *testing.T) {
	line := timeline{{At: 10 * time.Millisecond, Bytes: 100}, {At: 20 * time.Millisecond, Bytes: 200}, {At: 20 * time.Millisecond, Bytes: 250}}
	for at, want := range map[time.Duration]int64{0: 0, 5: 50, 10: 100, 15: 150, 20: 200, 30: 250} {
		if got := line.at(at * time.Millisecond); got != want {
			t.Errorf("at %d ms: %d, want %d", at, got, want)
		}
	}
	if got := (timeline{}).at(time.Second); got != 0 {
		t.Errorf("nothing became %d", got)
	}
}
