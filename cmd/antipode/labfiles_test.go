package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{"from": "aws:b", "to": "gcp:a", "delivered": {"packets": 14, "bytes": 1700, "payload_bytes": 900}, "dropped": {"rule": 1, "queue": 4, "loss": 5, "link": 8}},
		{"from": "", "to": "aws:b", "delivered": {"packets": 99}},
		{"from": "aws:b", "to": "", "delivered": {"packets": 99}}]}`)
	want := []delivered{
		{FromCloud: "aws", FromRegion: "b", ToCloud: "gcp", ToRegion: "a",
			Packets: 4, Bytes: 700, PayloadBytes: 300, DroppedByQueue: 4, DroppedByLoss: 5, DroppedAtLink: 6},
		{FromCloud: "gcp", FromRegion: "a", ToCloud: "gcp", ToRegion: "a", DroppedByRule: 3},
	}
	if diff := cmp.Diff(want, now.since(before)); diff != "" {
		t.Errorf("since (-want +got):\n%s", diff)
	}
	if got := now.since(now); len(got) > 0 {
		t.Errorf("since itself = %v, want nothing", got)
	}
}
