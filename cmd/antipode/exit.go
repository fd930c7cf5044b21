package main

import (
	"errors"
	"fmt"
)

// Exit codes, a contract (docs/design.md): where several apply, incomplete
// teardown wins, then an interruption, then failed pairs.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPairs       = 3   // some pairs failed, or had a machine that was never reached
	exitTeardown    = 4   // something may be left in a cloud
	exitRefused     = 5   // a check, the budget or the user said no before anything was created; or the budget stopped a run
	exitRegression  = 6   // compare found what --fail-on-regression asks for
	exitInterrupted = 130 // Ctrl-C or SIGTERM
)

// exitError carries the exit code of an error. An empty message means that all
// has been said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError is an error of the command line or of a file given on it.
func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// exitCode returns the code for err; errors that name none are failures.
func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	}
	return exitFailed
}
