package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
)

func counted(t *testing.T, text string) (c traffic) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTrafficSince(t *testing.T) {
	before := counted(t, `{"pairs": [
		{"from": "aws:b", "to": "gcp:a", "delivered": {"packets": 10, "bytes": 1000, "payload_bytes": 600}, "dropped": {"rule": 1, "link": 2}},
		{"from": "gcp:a", "to": "aws:b", "delivered": {"packets": 5, "bytes": 500}}]}`)
	now := counted(t, `{"pairs": [
		{"from": "gcp:a", "to": "aws:b", "delivered": {"packets": 5, "bytes": 500}},
		{"from": "gcp:a", "to": "gcp:a", "dropped": {"rule": 3}},
		{"from": "aws:b", "to": "gcp:a", "delivered": {"packets": 14, "datagrams": 3, "bytes": 1700, "payload_bytes": 900}, "dropped": {"rule": 1, "queue": 4, "loss": 5, "link": 8, "policer": 6, "mtu": 7}, "copied": 9,
			"late": {"datagrams": 1, "segments": 2}},
		{"from": "", "to": "aws:b", "delivered": {"packets": 99}},
		{"from": "aws:b", "to": "", "delivered": {"packets": 99}}]}`)
	want := []delivered{
		{FromCloud: "aws", FromRegion: "b", ToCloud: "gcp", ToRegion: "a",
			Packets: 4, Datagrams: 3, Bytes: 700, PayloadBytes: 300, DroppedByQueue: 4, DroppedByLoss: 5, DroppedAtLink: 6,
			LateDatagrams: 1, LateSegments: 2, DroppedByPolicer: 6, DroppedByMTU: 7, Copied: 9},
		{FromCloud: "gcp", FromRegion: "a", ToCloud: "gcp", ToRegion: "a", DroppedByRule: 3},
	}
	if diff := cmp.Diff(want, now.since(before)); diff != "" {
		t.Errorf("since (-want +got):\n%s", diff)
	}
	if got := now.since(now); len(got) > 0 {
		t.Errorf("since itself = %v, want nothing", got)
	}
}

func TestLate(t *testing.T) {
	a, b := antipode.Region{Cloud: "aws", Name: "a"}, antipode.Region{Cloud: "gcp", Name: "b"}
	there := delivered{FromCloud: "aws", FromRegion: "a", ToCloud: "gcp", ToRegion: "b"}
	back := delivered{FromCloud: "gcp", FromRegion: "b", ToCloud: "aws", ToRegion: "a"}
	elsewhere := delivered{FromCloud: "aws", FromRegion: "a", ToCloud: "aws", ToRegion: "c", Packets: 100, LateSegments: 100}
	for name, c := range map[string]struct {
		there, back delivered
		want        bool
	}{
		"nothing carried": {there, back, false},
		"in time":         {line(there, 1100, 100, 50, 10), line(back, 600, 100, 25, 10), false},
		"data late":       {line(there, 1100, 100, 51, 0), back, true},
		"answers late":    {line(there, 1100, 100, 0, 0), line(back, 600, 100, 26, 0), true},
		"echoes late":     {line(there, 1100, 100, 0, 10), line(back, 600, 100, 0, 11), true},
	} {
		lines := []delivered{c.there, elsewhere, c.back}
		for _, p := range []plan.Pair{{From: a, To: b}, {From: b, To: a}} {
			if got := late(lines, p); got != c.want {
				t.Errorf("%s: %s late = %v, want %v", name, p, got, c.want)
			}
		}
	}
}

// line fills a line: packets in all, datagrams among them, and how many of
// the segments and of the datagrams were late.
func line(d delivered, packets, datagrams, lateSegments, lateDatagrams int64) delivered {
	d.Packets, d.Datagrams, d.LateSegments, d.LateDatagrams = packets, datagrams, lateSegments, lateDatagrams
	return d
}
