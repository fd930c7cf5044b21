package providers

import (
	"errors"
	"fmt"
	"testing"
)

func TestPasses(t *testing.T) {
	of := func(kind Kind) error { return &Error{Op: "List", Cloud: "aws", Kind: kind, Err: errors.New("no")} }
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":         {nil, false},
		"no cloud's":      {errors.New("no"), false},
		"no network":      {of(Temporary), true},
		"silence":         {fmt.Errorf("aws: %w", of(Timeout)), true},
		"refused":         {of(Auth), false},
		"one of several":  {errors.Join(of(Auth), fmt.Errorf("x: %w", errors.Join(of(Skip), of(Throttle)))), true},
		"none of several": {errors.Join(of(Auth), of(InUse)), false},
	} {
		if got := Passes(c.err); got != c.want {
			t.Errorf("%s: Passes = %v, want %v", name, got, c.want)
		}
	}
}
