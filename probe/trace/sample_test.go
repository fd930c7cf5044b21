package trace

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// full has another value in every field, so that two that change places show.
func full() Sample {
	var s Sample
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		default:
			f.SetInt(int64(i+1) * 1000) // whole microseconds
		}
	}
	return s
}

func TestSampleAsJSON(t *testing.T) {
	for name, want := range map[string]Sample{"zero": {}, "full": full(), "unfed": {Whole: true}} {
		b, err := json.Marshal(Log{want})
		if err != nil {
			t.Fatal(err)
		}
		var got Log
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Log{want}, got); diff != "" {
			t.Errorf("%s: %s became (-want +got):\n%s", name, b, diff)
		}
	}
	if n := reflect.TypeFor[Sample]().NumField(); n != len(Columns()) {
		t.Errorf("%d columns for %d fields", len(Columns()), n)
	}
}

func TestSampleRefusesGarbage(t *testing.T) {
	for _, text := range []string{`[]`, `[1]`, `{}`, `"x"`, `[1.5,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]`} {
		if json.Unmarshal([]byte(text), new(Sample)) == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

func TestAtMost(t *testing.T) {
	l := simulate(10*time.Second, 50*time.Millisecond, func(time.Duration) float64 { return 1e6 })
	for _, tt := range []struct {
		name  string
		n     int
		every time.Duration
		want  int
	}{
		{"each 100 ms", 4000, 100 * time.Millisecond, 101},
		{"all", 4000, time.Millisecond, len(l)},
		{"too many", 50, time.Millisecond, 50},
		{"first and last", 4000, time.Hour, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := l.AtMost(tt.n, tt.every)
			if math.Abs(float64(len(got)-tt.want)) > 1 || len(got) > tt.n {
				t.Errorf("%d samples, want %d", len(got), tt.want)
			}
			if got[0] != l[0] || got[len(got)-1] != l[len(l)-1] {
				t.Error("an end is missing")
			}
		})
	}
	if got := (Log{}).AtMost(10, 0); len(got) != 0 {
		t.Errorf("samples out of nothing: %v", got)
	}
}
