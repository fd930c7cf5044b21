package gcp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cloud.google.com/go/auth"
	"google.golang.org/api/googleapi"

	"github.com/antipode-bench/antipode/providers"
)

// operationError is the error an operation ended with; the SDK's own loses the
// code, which is all that says what to do.
type operationError struct {
	code, message string
	status        int // HTTP, 0 if the operation has none
}

func (e *operationError) Error() string {
	return fmt.Sprintf("operation failed: %s: %s", e.code, e.message)
}

// reasons are the words with a meaning of their own: reasons of calls and codes
// of operations, which spell the same thing in two ways.
var reasons = map[string]providers.Kind{
	"rateLimitExceeded":                   providers.Throttle,
	"userRateLimitExceeded":               providers.Throttle,
	"concurrentLimitExceeded":             providers.Throttle,
	"RATE_LIMIT_EXCEEDED":                 providers.Throttle,
	"quotaExceeded":                       providers.Quota,
	"QUOTA_EXCEEDED":                      providers.Quota,
	"resourceInUseByAnotherResource":      providers.InUse,
	"RESOURCE_IN_USE_BY_ANOTHER_RESOURCE": providers.InUse,
	"resourceNotReady":                    providers.Temporary,
	"RESOURCE_NOT_READY":                  providers.Temporary,
	"INTERNAL_ERROR":                      providers.Temporary,
	"SERVICE_UNAVAILABLE":                 providers.Temporary,
	"alreadyExists":                       providers.Exists,
	"RESOURCE_ALREADY_EXISTS":             providers.Exists,
	"notFound":                            providers.NotFound,
	"RESOURCE_NOT_FOUND":                  providers.NotFound,
	"RESOURCE_POOL_EXHAUSTED":             providers.Capacity,
	"UNSUPPORTED_OPERATION":               providers.Capacity,
	"PERMISSIONS_ERROR":                   providers.Auth,
}

// texts say what words do not: the message is the only place. They are tried
// first, since such errors come under general statuses.
var texts = []struct {
	text string
	kind providers.Kind
}{
	{"constraints/", providers.Skip},                     // an organisation policy
	{"ZONE_RESOURCE_POOL_EXHAUSTED", providers.Capacity}, // and _WITH_DETAILS
	{"does not exist in zone", providers.Capacity},       // the machine type
	{"network tier", providers.Skip},                     // standard: not in every region
	{"Quota '", providers.Quota},
}

var statuses = map[int]providers.Kind{
	http.StatusUnauthorized:    providers.Auth,
	http.StatusForbidden:       providers.Auth,
	http.StatusNotFound:        providers.NotFound,
	http.StatusConflict:        providers.Exists,
	http.StatusTooManyRequests: providers.Throttle,
}

// classify says what to do about an error of the SDK or of an operation;
// Unknown if it is neither.
func classify(err error) providers.Kind {
	if _, ok := errors.AsType[*auth.Error](err); ok {
		return providers.Auth // no token to be had
	}
	if e, ok := errors.AsType[*operationError](err); ok {
		return kind(e.status, e.code+" "+e.message, e.code)
	}
	if e, ok := errors.AsType[*googleapi.Error](err); ok {
		var words []string
		for _, item := range e.Errors {
			words = append(words, item.Reason)
		}
		return kind(e.Code, e.Error(), words...)
	}
	return providers.Unknown
}

func kind(status int, text string, words ...string) providers.Kind {
	for _, t := range texts {
		if strings.Contains(text, t.text) {
			return t.kind
		}
	}
	for _, word := range words {
		if kind, ok := reasons[word]; ok {
			return kind
		}
	}
	if kind, ok := statuses[status]; ok {
		return kind
	}
	if status >= http.StatusInternalServerError {
		return providers.Temporary
	}
	return providers.Unknown
}
