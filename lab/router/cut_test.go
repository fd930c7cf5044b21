//go:build linux

package router

import (
	"testing"
	"time"

	"github.com/antipode-bench/antipode/lab/router/link"
)

func TestSever(t *testing.T) {
	const sec = time.Second
	c := cuts{all: []Cut{
		{Cloud: "aws", Region: "us-east-1", After: 2 * sec, For: 3 * sec},
		{Cloud: "gcp", After: 10 * sec, For: sec},
		{After: 20 * sec, For: sec},
	}}
	for _, tt := range []struct {
		from, to string
		at       time.Duration
		want     bool
	}{
		{"", "aws:us-east-1", 3 * sec, false}, // the clock does not run yet
		{"aws:us-east-1", "gcp:us-east1", 5 * sec, false},
		{"", "aws:us-east-1", 6 * sec, false},
		{"", "aws:us-east-1", 7 * sec, true},
		{"aws:us-east-1", "", 9 * sec, true},
		{"aws:us-east-1", "gcp:us-east1", 9 * sec, false},
		{"aws:us-east-2", "", 9 * sec, false},
		{"", "aws:us-east-1", 10 * sec, false},
		{"", "gcp:us-east1", 15 * sec, true},
		{"", "aws:us-east-1", 15 * sec, false},
		{"", "aws:us-east-1", 25 * sec, true},
		{"gcp:us-east1", "", 25 * sec, true},
		{"gcp:us-east1", "", 26 * sec, false},
	} {
		if got := c.sever(tt.from, tt.to, tt.at); got != tt.want {
			t.Errorf("%q to %q at %v is cut: %v, want %v", tt.from, tt.to, tt.at, got, tt.want)
		}
	}
}

// TestCut cuts the controller off before it writes: its connection stays open,
// and what it wrote arrives afterwards.
func TestCut(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		inet := newInternet(t, kind, flat(t, 0, "delay_ms: 1"), Cost{})
		controller, a, b := inet.machine(t, ""), inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		out, in := connect(t, controller, a, "cubic")
		const lasts = time.Second
		inet.mu.Lock()
		inet.cuts.all = []Cut{{For: lasts}}
		inet.mu.Unlock()
		before := time.Now()
		connect(t, a, b, "cubic")

		if _, err := out.Write([]byte("word")); err != nil {
			t.Fatal(err)
		}
		in.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := in.Read(make([]byte, 4)); err != nil || time.Since(before) < lasts {
			t.Errorf("Read = %v after %v; want what was written, after %v", err, time.Since(before), lasts)
		}
	})
}
