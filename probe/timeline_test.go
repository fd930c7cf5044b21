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
	l := timeline{{10 * ms, 100}, {20 * ms, 100}, {30 * ms, 300}}
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
	if err := l.add([]point{{5, 5}, {6, 5}}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]point{{{4, 9}}, {{9, 4}}, {{-1, -1}}, make([]point, maxPoints)} {
		if err := l.add(bad); err == nil {
			t.Errorf("took %d points from %v", len(bad), bad[0])
		}
	}
}

func TestPointRoundTrip(t *testing.T) {
	want := []point{{0, 1}, {1500 * time.Microsecond, 1 << 40}}
	b, err := json.Marshal(want)
	if err != nil || string(b) != "[[0,1],[1500,1099511627776]]" {
		t.Fatalf("%s, %v", b, err)
	}
	var got []point
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(point{})); d != "" {
		t.Error(d)
	}
	if err := json.Unmarshal([]byte("[[1,2,3]]"), &got); err == nil {
		t.Error("took a point of three")
	}
}

// TestLastSamples: the end of the stream may come long after its last byte.
func TestLastSamples(t *testing.T) {
	got := lastSamples(point{3, 1}, []point{{4, 2}, {9, 3}}, point{6, 3})
	if d := cmp.Diff([]point{{4, 2}, {6, 3}}, got, cmp.AllowUnexported(point{})); d != "" {
		t.Error(d)
	}
	if got := lastSamples(point{8, 3}, []point{{9, 3}}, point{6, 3}); len(got) > 0 {
		t.Errorf("time runs backwards: %v", got)
	}
}
