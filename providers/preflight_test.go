package providers

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoom(t *testing.T) {
	for name, tt := range map[string]struct {
		allowance Allowance
		want      int
	}{
		"Plenty":   {Allowance{Limit: 64, Machine: 2}, 32},
		"Some":     {Allowance{Limit: 7, Used: 2, Machine: 2}, 2},
		"None":     {Allowance{Limit: 5, Used: 4, Machine: 2}, 0},
		"Overdone": {Allowance{Limit: 4, Used: 9, Machine: 2}, 0},
		"Shared":   {Allowance{Limit: 1, Machine: 0.5}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.allowance.Room(); got != tt.want {
				t.Errorf("Room of %v = %d, want %d", tt.allowance, got, tt.want)
			}
		})
	}
}

func TestTightest(t *testing.T) {
	if a, ok := Tightest(nil); ok {
		t.Errorf("Tightest of none = %v", a)
	}
	a, ok := Tightest([]Allowance{{Name: "a", Limit: 9, Machine: 2}, {Name: "b", Limit: 3, Machine: 1}, {Name: "c", Limit: 9, Machine: 1}})
	if !ok || a.Name != "b" {
		t.Errorf("Tightest = %v, %v; want b", a, ok)
	}
}

func TestFound(t *testing.T) {
	failed := func(kind Kind) error {
		return &Error{Op: "Op", Cloud: "c", Region: "r", Kind: kind, Err: errors.New("why")}
	}
	for kind, want := range map[Kind]Finding{
		Auth:      {VerdictRefuse, "Op: why"},
		Skip:      {VerdictRefuse, "Op: why"},
		NotFound:  {VerdictRefuse, "Op: why"},
		Timeout:   {VerdictWarn, "not checked: Op: why"},
		Temporary: {VerdictWarn, "not checked: Op: why"},
		Unknown:   {VerdictWarn, "not checked: Op: why"},
	} {
		if got := Found(VerdictRefuse, failed(kind)); got != want {
			t.Errorf("Found of %s = %v, want %v", kind, got, want)
		}
	}
}

func TestWorst(t *testing.T) {
	for _, tt := range []struct {
		findings []Finding
		want     Finding
	}{
		{nil, Finding{Verdict: VerdictGo}},
		{[]Finding{{VerdictWarn, "w"}, {VerdictSkip, "s"}, {VerdictSkip, "t"}, {VerdictWarn, "x"}}, Finding{VerdictSkip, "s"}},
	} {
		if got := Worst(tt.findings); got != tt.want {
			t.Errorf("Worst = %v, want %v", got, tt.want)
		}
	}
}

// quiet is a provider that has nothing to say beforehand.
type quiet struct{ Provider }

func (quiet) Cloud() string { return "quiet" }

func TestAskWithoutPreflight(t *testing.T) {
	got := Ask(context.Background(), quiet{}, Wanted{Regions: []string{"a", "b"}})
	want := Preflight{Cloud: "quiet", Regions: []RegionPreflight{{Region: "a"}, {Region: "b"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
