package providers

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

var (
	errBusy  = errors.New("busy")
	errShaky = errors.New("shaky")
	errFull  = errors.New("full")
)

func testCaller() *Caller {
	return &Caller{Cloud: "nimbus", Timeout: 10 * time.Second, Classify: func(err error) Kind {
		switch {
		case errors.Is(err, errBusy):
			return Throttle
		case errors.Is(err, errShaky):
			return Temporary
		case errors.Is(err, errFull):
			return Capacity
		}
		return Unknown
	}}
}

func TestCallRetriesByKind(t *testing.T) {
	tests := []struct {
		name  string
		err   error
		tries int
		kind  Kind
	}{
		{"throttled", errBusy, 8, Throttle},
		{"temporary", errShaky, 5, Temporary},
		{"connection lost", io.ErrUnexpectedEOF, 5, Temporary},
		{"no capacity", errFull, 1, Capacity},
		{"never heard of", errors.New("odd"), 1, Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				err := Do(t.Context(), testCaller(), "north", "Make", func(context.Context) error {
					tries++
					return tt.err
				})
				if tries != tt.tries {
					t.Errorf("tries = %d, want %d", tries, tt.tries)
				}
				e, ok := errors.AsType[*Error](err)
				if !ok || e.Kind != tt.kind || e.Cloud != "nimbus" || e.Region != "north" || e.Op != "Make" {
					t.Errorf("err = %#v, want kind %s of nimbus north Make", err, tt.kind)
				}
				if !errors.Is(err, tt.err) {
					t.Errorf("%v does not wrap %v", err, tt.err)
				}
			})
		})
	}
}

func TestCallSucceedsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		got, err := Call(t.Context(), testCaller(), "", "Ask", func(context.Context) (int, error) {
			if tries++; tries < 3 {
				return 0, errShaky
			}
			return 7, nil
		})
		if got != 7 || err != nil {
			t.Errorf("Call = %d, %v; want 7", got, err)
		}
	})
}

// The list calls of one SDK ignore their context: the limit has to hold anyway.
func TestCallLeavesSilentEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangUp := make(chan struct{})
		start := time.Now()
		err := Do(t.Context(), testCaller(), "north", "List", func(context.Context) error {
			<-hangUp
			return nil
		})
		close(hangUp)
		if KindOf(err) != Timeout {
			t.Errorf("err = %v, want a time-out", err)
		}
		if got := time.Since(start); got > 21*time.Second {
			t.Errorf("took %v, want two tries of 10 s", got)
		}
		if want := "nimbus north: List: no answer within 10s"; err.Error() != want {
			t.Errorf("err = %q, want %q", err, want)
		}
	})
}

func TestCallEndsWhenCancelled(t *testing.T) {
	tests := []struct {
		name string
		f    func(context.Context) error
	}{
		{"in the call", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
		{"in a pause", func(context.Context) error { return errBusy }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(100*time.Millisecond, cancel)
				start := time.Now()
				err := Do(ctx, testCaller(), "north", "Make", tt.f)
				if err == nil || time.Since(start) != 100*time.Millisecond {
					t.Errorf("err = %v after %v, want one at once", err, time.Since(start))
				}
			})
		})
	}
}

// TestCallOnce: what a try has made whose answer was lost is not made again.
func TestCallOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error // of the first try
		made  bool  // by it, all the same
		blind error // of the look
		tries int
		looks int
		kind  Kind // of the error; empty: none
	}{
		"answer lost":          {err: io.ErrUnexpectedEOF, made: true, tries: 1, looks: 1},
		"nothing made":         {err: io.ErrUnexpectedEOF, tries: 2, looks: 1},
		"no answer":            {err: context.DeadlineExceeded, made: true, tries: 1, looks: 1},
		"throttled":            {err: errBusy, tries: 2},
		"refused":              {err: errFull, tries: 1, kind: Capacity},
		"the look fails":       {err: errShaky, made: true, blind: errFull, tries: 1, looks: 1, kind: Temporary},
		"at the first attempt": {tries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries, looks, there := 0, 0, 0
				got, err := CallOnce(t.Context(), testCaller(), "north", "Make", func(context.Context) (int, error) {
					tries++
					if tries > 1 || tt.err == nil {
						there++
						return there, nil
					}
					if tt.made {
						there++
					}
					return 0, tt.err
				}, func(context.Context) (int, bool, error) {
					looks++
					return there, there > 0 && tt.blind == nil, tt.blind
				})
				if tries != tt.tries || looks != tt.looks || (err == nil) != (tt.kind == "") || err != nil && KindOf(err) != tt.kind {
					t.Errorf("%d tries, %d looks, %v; want %d, %d, %s", tries, looks, err, tt.tries, tt.looks, tt.kind)
				}
				if err == nil && (got != 1 || there != 1) {
					t.Errorf("got number %d of %d, want the only one", got, there)
				}
			})
		})
	}
}
