package providers

import "fmt"

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
	Skip      Kind = "skip"      // the region is not for us (not opted in, policy): a row, not a failure
	Timeout   Kind = "timeout"   // the endpoint did not answer in time
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
