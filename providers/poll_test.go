package providers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, asked := time.Now(), 0
		err := Poll(t.Context(), time.Minute, Steady(), "x", func(context.Context) (bool, error) {
			asked++
			return time.Since(start) > 10*time.Second, nil
		})
		if err != nil || asked < 6 || asked > 9 {
			t.Errorf("err = %v after %d questions in 10 s, want 6 to 9", err, asked)
		}
	})
}

func TestPollGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := Poll(t.Context(), time.Minute, Steady(), "machine i-1", func(context.Context) (bool, error) {
			return false, nil
		})
		if kind, _ := NetworkKind(err); kind != Timeout || !strings.Contains(err.Error(), "machine i-1: not within 1m0s") {
			t.Errorf("err = %v, want what was waited for and how long", err)
		}
	})
}

// drainWorld is a cloud of one thing which shows up and goes away late.
type drainWorld struct {
	visibleAt, goneAfter int // in looks
	looks, removes       int
	lookErr              func(look int) error
}

func (w *drainWorld) look(context.Context) ([]Resource, error) {
	w.looks++
	if w.lookErr != nil {
		if err := w.lookErr(w.looks); err != nil {
			return nil, err
		}
	}
	if w.looks < w.visibleAt || w.removes >= w.goneAfter {
		return nil, nil
	}
	return []Resource{{Region: "north", Kind: Instance, ID: "i-1"}}, nil
}

func (w *drainWorld) remove(context.Context, []Resource) error {
	w.removes++
	return errors.New("in use")
}

func TestDrain(t *testing.T) {
	broken := &Error{Kind: Temporary, Err: errors.New("broken")}
	tests := []struct {
		name    string
		world   drainWorld
		looks   int // 0: not checked
		wantErr string
	}{
		{"nothing", drainWorld{}, 2, ""},
		{"late to show up", drainWorld{visibleAt: 2, goneAfter: 1}, 4, ""},
		{"goes at the third try", drainWorld{goneAfter: 3}, 5, ""},
		{"never goes", drainWorld{goneAfter: 1000}, 0, "still there: north instance i-1: teardown: not within 1m0s"},
		{"one look fails", drainWorld{lookErr: func(n int) error {
			if n == 1 {
				return broken
			}
			return nil
		}}, 3, ""},
		{"blind", drainWorld{lookErr: func(int) error { return broken }}, 2, "unknown"},
		{"locked out", drainWorld{lookErr: func(int) error { return &Error{Kind: Auth, Err: errors.New("no")} }}, 1, "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := Drain(t.Context(), time.Minute, time.Time{}, tt.world.look, tt.world.remove)
				if (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
					t.Errorf("Drain = %v, want %q", err, tt.wantErr)
				}
				if tt.looks != 0 && tt.world.looks != tt.looks {
					t.Errorf("looks = %d, want %d", tt.world.looks, tt.looks)
				}
			})
		})
	}
}

// What shows up after two empty looks is still removed while lists may be late.
func TestDrainWaitsForLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := drainWorld{visibleAt: 5, goneAfter: 1}
		start := time.Now()
		err := Drain(t.Context(), time.Minute, start.Add(ListLag), w.look, w.remove)
		if err != nil || w.removes != 1 || time.Since(start) < ListLag {
			t.Errorf("Drain = %v after %v and %d removals, want one, and no end before %v", err, time.Since(start), w.removes, ListLag)
		}
	})
}

func TestCheckRunID(t *testing.T) {
	for id, ok := range map[string]bool{
		"20261130t172233z-ab12": true, "a": true, strings.Repeat("a", 24): true,
		"": false, "A": false, "-a": false, "a-": false, "a_b": false, strings.Repeat("a", 25): false,
	} {
		if err := CheckRunID(id); (err == nil) != ok {
			t.Errorf("CheckRunID(%q) = %v, want ok %t", id, err, ok)
		}
	}
}
