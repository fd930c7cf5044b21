package providers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
)

// Kind says what to do about an error of a cloud.
type Kind string

const (
	Unknown   Kind = "unknown"   // give up on this machine
	Capacity  Kind = "capacity"  // try another zone
	Quota     Kind = "quota"     // skip the region, say so
	Auth      Kind = "auth"      // stop the run
	Throttle  Kind = "throttle"  // retry, slower
	Temporary Kind = "temporary" // retry
	NotFound  Kind = "not-found" // gone, or not there yet
	Exists    Kind = "exists"    // made before: adopt it if it is ours
	InUse     Kind = "in-use"    // cannot go yet: something else needs it
	Skip      Kind = "skip"      // the region is not for us (not opted in, policy): a row, not a failure
	Timeout   Kind = "timeout"   // the endpoint did not answer in time
	Canceled  Kind = "canceled"  // we stopped asking
)

// Error is an error of a cloud with what it happened to and what to do.
type Error struct {
	Op            string // the API's own name of the call, for example "RunInstances"
	Cloud, Region string
	Kind          Kind
	Err           error
}

func (e *Error) Error() string {
	where := e.Cloud
	if e.Region != "" {
		where += " " + e.Region
	}
	return fmt.Sprintf("%s: %s: %v", where, e.Op, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of the first *Error in err's tree, and Unknown without one.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unknown
}

// Passes reports whether waiting may mend some error in err's tree: a cloud, or
// the way to it, that does not work at the moment.
func Passes(err error) bool {
	if e, ok := err.(*Error); ok {
		return e.Kind == Temporary || e.Kind == Timeout || e.Kind == Throttle
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), Passes)
	case interface{ Unwrap() error }:
		return Passes(e.Unwrap())
	}
	return false
}

// Wrap makes err, met while doing op, an *Error unless it is nil or one already.
func Wrap(cloud, region, op string, err error) error {
	if _, is := errors.AsType[*Error](err); err == nil || is {
		return err
	}
	kind, _ := NetworkKind(err)
	return &Error{Op: op, Cloud: cloud, Region: region, Kind: kind, Err: err}
}

// NetworkKind sorts the errors that come from the way to a cloud rather than
// from the cloud itself. ok is false for all others.
func NetworkKind(err error) (kind Kind, ok bool) {
	if errors.Is(err, context.Canceled) {
		return Canceled, true
	}
	var nerr net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errLate) || errors.As(err, &nerr) && nerr.Timeout() {
		return Timeout, true
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.EPIPE} {
		if errors.Is(err, broken) {
			return Temporary, true
		}
	}
	if nerr != nil {
		return Temporary, true
	}
	return Unknown, false
}
