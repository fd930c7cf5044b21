//go:build linux

package probe

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTimelinePassed(t *testing.T) {
	ms := time.Millisecond
	l := timeline{{At: 10 * ms, Bytes: 100}, {At: 20 * ms, Bytes: 100}, {At: 30 * ms, Bytes: 300}}
	tests := []struct {
		name  string
		bytes int64
		want  time.Duration
	}{
		{"nothing", 0, 0},
		{"before the first sample", 50, 5 * ms},
		{"first of two that say the same", 100, 10 * ms},
		{"between", 200, 25 * ms},
		{"the end", 300, 30 * ms},
		{"never", 999, 30 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := l.passed(tt.bytes); got != tt.want {
				t.Errorf("passed(%d) = %v, want %v", tt.bytes, got, tt.want)
			}
		})
	}
	if got := (timeline{}).passed(5); got != 0 {
		t.Errorf("an empty timeline passed 5 at %v", got)
	}
}

func TestTimelineRefuses(t *testing.T) {
	var l timeline
	if err := l.add([]point{{At: 5, Bytes: 5}, {At: 6, Bytes: 5}}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]point{{{At: 4, Bytes: 9}}, {{At: 9, Bytes: 4}}, {{At: -1, Bytes: -1}}, make([]point, maxPoints)} {
		if err := l.add(bad); err == nil {
			t.Errorf("took %d points from %v", len(bad), bad[0])
		}
	}
}

func TestPointRoundTrip(t *testing.T) {
	want := []point{{At: 0, Bytes: 1}, {At: 1500 * time.Microsecond, Bytes: 1 << 40}}
	b, err := json.Marshal(want)
	if err != nil || string(b) != "[[0,1],[1500,1099511627776]]" {
		t.Fatalf("%s, %v", b, err)
	}
	var got []point
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := json.Unmarshal([]byte("[[1,2,3]]"), &got); err == nil {
		t.Error("took a point of three")
	}
}

// TestLastSamples: the end of the stream may come long after its last byte.
func TestLastSamples(t *testing.T) {
	got := lastSamples(point{At: 3, Bytes: 1}, []point{{At: 4, Bytes: 2}, {At: 9, Bytes: 3}}, point{At: 6, Bytes: 3})
	if d := cmp.Diff([]point{{At: 4, Bytes: 2}, {At: 6, Bytes: 3}}, got); d != "" {
		t.Error(d)
	}
	if got := lastSamples(point{At: 8, Bytes: 3}, []point{{At: 9, Bytes: 3}}, point{At: 6, Bytes: 3}); len(got) > 0 {
		t.Errorf("time runs backwards: %v", got)
	}
}
