package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/antipode-bench/antipode/providers"
)

// Why a run measures no more, as the cause of its context.
var (
	errExpired = errors.New("the run expired")
	errOver    = errors.New("the measurement is over")
)

// fatalError stops the whole run.
type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

// Stop makes err the cause of a context's end by which nothing more can be
// measured, rather than an interruption.
func Stop(err error) error { return must(err) }

// must makes an error fatal.
func must(err error) error {
	if err == nil {
		return nil
	}
	return &fatalError{err}
}

// fatal reports whether a machine's error stops the run: what can't be written
// down must not be made, and refused credentials are refused everywhere.
func fatal(err error) bool {
	_, is := errors.AsType[*fatalError](err)
	return is || providers.KindOf(err) == providers.Auth
}

// awayError is the cause that ends the tests of a machine that does not answer
// any more, and may again.
type awayError struct {
	guest *guest
	err   error
}

func (e *awayError) Error() string { return e.guest.region + ": " + brief(e.err) }
func (e *awayError) Unwrap() error { return e.err }

// lostError is why a region has no machine any more.
type lostError struct {
	region string
	err    error
}

func (e *lostError) Error() string { return e.region + ": " + brief(e.err) }
func (e *lostError) Unwrap() error { return e.err }

// skips reports whether the region, not our luck, is why there is no machine.
func (e *lostError) skips() bool {
	if e.unreached() {
		return true
	}
	kind := providers.KindOf(e.err)
	return kind == providers.Skip || kind == providers.Quota
}

// unreached reports whether neither of the region's two machines was reached.
func (e *lostError) unreached() bool {
	_, never := errors.AsType[*neverError](e.err)
	return never
}

// brief is err without saying twice where it happened.
func brief(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*providers.Error](err); ok {
		text = strings.Replace(text, e.Error(), fmt.Sprintf("%s: %v", e.Op, e.Err), 1)
	}
	return text
}

// stopReason is why nothing more is measured, for rows.
func stopReason(ctx context.Context) string {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errExpired):
		return errExpired.Error()
	case fatal(cause):
		return "the run was stopped: " + cause.Error()
	}
	return "interrupted"
}

// line makes text fit a table's cell: one line, at most 240 characters.
func line(text string) string {
	const most = 240
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	return string(runes)
}
