//go:build linux

package probe

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/probe/wire"
)

// TestUDPSamples follows a test from its first datagram to its last.
func TestUDPSamples(t *testing.T) {
	_, peer := startServer(t)
	again(t, func() (wrong string) {
		r, err := NewClient(testSecret).UDP(t.Context(), wire.UDP{Peer: peer, RateBps: 8e6, DurationMs: 500, DeadlineMs: deadlineMs, SampleMs: 100})
		must(t, err)
		var before wire.UDPSample
		for _, s := range r.Samples {
			if s.AtUs <= before.AtUs || s.Sent < before.Sent || s.Received < before.Received || s.Received+s.Lost > s.Sent {
				t.Errorf("%+v after %+v", s, before)
			}
			before = s
		}
		if before.Sent != r.Sent || before.Received != r.Received || before.ReceivedBytes != r.Bytes {
			t.Errorf("at the end %+v; the result is %+v", before, *r)
		}
		if n := len(r.Samples); n < 2 || n > 10 {
			return fmt.Sprintf("%d samples of 500 ms", n)
		}
		return ""
	})
}

// TestUDPSamplesThin: a long test has samples from beginning to end, evenly.
func TestUDPSamplesThin(t *testing.T) {
	s := &udpSender{every: 1}
	const news = 10_000
	for i := range news {
		s.keep(udpCount{AtNs: int64(i+1) * int64(newsInterval), Datagrams: 1}, i == news-1)
	}
	if len(s.counts) < maxSamples/2 || len(s.counts) > maxSamples {
		t.Errorf("%d samples", len(s.counts))
	}
	step := s.counts[1].AtNs - s.counts[0].AtNs
	for i, c := range s.counts[:len(s.counts)-1] {
		if c.AtNs != int64(i+1)*step {
			t.Fatalf("sample %d is of %v, want steps of %v", i, time.Duration(c.AtNs), time.Duration(step))
		}
	}
	if last := s.counts[len(s.counts)-1]; last.AtNs != news*int64(newsInterval) {
		t.Errorf("the last is of %v", time.Duration(last.AtNs))
	}
}

// TestUDPSamplesMeet has both ends' counts of the same moments.
func TestUDPSamplesMeet(t *testing.T) {
	at := func(ms int64) int64 { return ms * int64(time.Millisecond) }
	s := &udpSender{sent: 40}
	s.noted = timeline{{At: 0, Bytes: 2}, {At: 100 * time.Millisecond, Bytes: 22}, {At: 200 * time.Millisecond, Bytes: 40}}
	s.counts = []udpCount{
		{AtNs: at(50), Datagrams: 10, Bytes: 1000, Next: 11, Duplicates: 1},
		{AtNs: at(100), Datagrams: 21, Bytes: 2100, Next: 25, Reordered: 1, JitterNs: 7100},
		{AtNs: at(210), Datagrams: 36, Bytes: 3600, Next: 40}, // the sending is over
		{AtNs: at(400), Datagrams: 38, Bytes: 3800, Next: 40},
	}
	got, err := s.samples()
	must(t, err)
	want := []wire.UDPSample{
		{AtUs: 50_000, Sent: 12, Received: 10, ReceivedBytes: 1000, Lost: 1, Duplicates: 1},
		{AtUs: 100_000, Sent: 25, Received: 21, ReceivedBytes: 2100, Lost: 4, Reordered: 1, JitterUs: 7},
		{AtUs: 400_000, Sent: 40, Received: 38, ReceivedBytes: 3800, Lost: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.counts[0].Next = 41
	if _, err := s.samples(); err == nil {
		t.Error("a peer that saw more than was sent is believed")
	}
}
