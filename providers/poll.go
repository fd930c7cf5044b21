package providers

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// Growing gives pauses that start at first and grow by factor up to longest.
func Growing(first time.Duration, factor float64, longest time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for pause := first; yield(pause); {
			pause = min(time.Duration(float64(pause)*factor), longest)
		}
	}
}

// Steady are the pauses most things are waited for with: soon at first, since
// some are quick, and gentle to the API later.
func Steady() iter.Seq[time.Duration] {
	return Growing(250*time.Millisecond, 1.5, 5*time.Second)
}

// AtOnce puts no pause before the first.
func AtOnce(pauses iter.Seq[time.Duration]) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		if yield(0) {
			pauses(yield)
		}
	}
}

// Poll asks after each pause until the answer is yes, ask fails, or limit has
// passed; then it names what it waited for. Pauses are stretched by up to a
// fifth so that many regions don't ask in step.
func Poll(ctx context.Context, limit time.Duration, pauses iter.Seq[time.Duration], what string,
	ask func(context.Context) (bool, error)) error {
	pctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s: not within %v: %w", what, limit, errLate))
	defer cancel()
	for pause := range pauses {
		if err := sleep(pctx, pause+rand.N(pause/5+1)); err != nil {
			return err
		}
		done, err := ask(pctx)
		if pctx.Err() != nil && err != nil {
			return context.Cause(pctx)
		}
		if done || err != nil {
			return err
		}
	}
	return nil
}

var errLate = errors.New("waited too long")
