package providers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

// DefaultCallTimeout limits one try of one API call.
const DefaultCallTimeout = 30 * time.Second

// Caller makes the API calls of one cloud.
type Caller struct {
	Cloud    string
	Classify func(error) Kind // of the cloud's own errors
	Timeout  time.Duration    // of one try; 0 means DefaultCallTimeout
	Log      *slog.Logger     // told of every try that is repeated; nil: nobody is
}

// patience is how often a kind of error is met before it is believed, and the
// first pause, which doubles. A kind that is not here is believed at once. A
// silent endpoint already took its time, so it gets one more try only.
var patience = map[Kind]struct {
	tries int
	first time.Duration
}{
	Temporary: {tries: 5, first: 250 * time.Millisecond},
	Throttle:  {tries: 8, first: time.Second},
	Timeout:   {tries: 2, first: 250 * time.Millisecond},
}

const longestPause = 20 * time.Second

// Call makes one API call named op, with a time limit for each try, and tries
// again where that helps. So f must be idempotent: carry a token, or take
// "exists already" for an answer. Every error it returns is an *Error.
//
// Should f ignore its context, Call returns without it and drops its late
// answer.
func Call[T any](ctx context.Context, c *Caller, region, op string, f func(context.Context) (T, error)) (T, error) {
	return CallOnce(ctx, c, region, op, f, nil)
}

// CallOnce is Call for an f that makes another thing each time, because its API
// knows neither tokens nor names. So look is asked before f is repeated whether
// the try before it, whose answer was lost, has made one, which is then the
// answer. It must look for as long as the cloud's lists may be late. Should the
// look fail, nothing is repeated.
func CallOnce[T any](ctx context.Context, c *Caller, region, op string, f func(context.Context) (T, error),
	look func(context.Context) (there T, found bool, err error)) (T, error) {
	met := map[Kind]int{}
	for {
		answer, err := try(ctx, c.timeout(), f)
		if err == nil {
			return answer, nil
		}
		kind := c.kind(ctx, err)
		met[kind]++
		failed := &Error{Op: op, Cloud: c.Cloud, Region: region, Kind: kind, Err: err}
		if met[kind] >= patience[kind].tries {
			return answer, failed
		}
		pause := retryPause(kind, met[kind])
		c.report(failed, pause)
		if serr := sleep(ctx, pause); serr != nil {
			return answer, failed
		}
		if look == nil || kind == Throttle { // a throttled call has made nothing
			continue
		}
		there, found, err := look(ctx)
		if found {
			return there, nil
		}
		if err != nil {
			failed.Err = fmt.Errorf("%w; looking for what it made: %w", failed.Err, err)
			return answer, failed
		}
	}
}

// Do is Call for a call without an answer.
func Do(ctx context.Context, c *Caller, region, op string, f func(context.Context) error) error {
	_, err := Call(ctx, c, region, op, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, f(ctx)
	})
	return err
}

func (c *Caller) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return DefaultCallTimeout
}

// kind believes our own context first: an SDK may dress up a cancellation.
func (c *Caller) kind(ctx context.Context, err error) Kind {
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Timeout
	case ctx.Err() != nil:
		return Canceled
	case errors.Is(err, errSilent):
		return Timeout
	}
	if kind := c.Classify(err); kind != Unknown {
		return kind
	}
	kind, _ := NetworkKind(err)
	return kind
}

func (c *Caller) report(err *Error, pause time.Duration) {
	if c.Log != nil {
		c.Log.Info("cloud call is repeated", "cloud", err.Cloud, "region", err.Region, "call", err.Op,
			"kind", err.Kind, "pause", pause.Round(time.Millisecond), "err", err.Err)
	}
}

var errSilent = errors.New("no answer")

// try runs f for at most limit. f's goroutine outlives it only as long as f
// ignores its context.
func try[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	tctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type result struct {
		answer T
		err    error
	}
	done := make(chan result, 1)
	go func() {
		answer, err := f(tctx)
		done <- result{answer, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-tctx.Done():
		r.err = tctx.Err()
	}
	switch {
	case r.err == nil:
		return r.answer, nil
	case ctx.Err() != nil:
		return r.answer, context.Cause(ctx)
	case tctx.Err() != nil:
		return r.answer, fmt.Errorf("%w within %v", errSilent, limit)
	}
	return r.answer, r.err
}

func retryPause(kind Kind, tries int) time.Duration {
	pause := min(patience[kind].first<<(tries-1), longestPause)
	return time.Duration(float64(pause) * (0.5 + rand.Float64()))
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 { // no timer: under the race detector Go 1.26 was seen to crash on one due at once in a synctest bubble
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
