package gcp

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/googleapis/gax-go/v2/callctx"
)

// carrier gives every request the context of the call that made it. The SDK
// forgets it in all its list calls (googleapis/gapic-generator-go 1749), which
// would hang on a silent endpoint; headers that are set through the context
// get through, so a number in one is what the context is found by.
type carrier struct {
	next  http.RoundTripper
	last  atomic.Uint64
	calls sync.Map // number, as text, to context.Context
}

// callHeader never leaves the process.
const callHeader = "X-Antipode-Call"

// mark returns the context to make calls with, until done.
func (c *carrier) mark(ctx context.Context) (marked context.Context, done func()) {
	number := strconv.FormatUint(c.last.Add(1), 10)
	c.calls.Store(number, ctx)
	return callctx.SetHeaders(ctx, callHeader, number), func() { c.calls.Delete(number) }
}

// RoundTrip implements http.RoundTripper. A request whose call is over is not
// sent any more.
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	number := r.Header.Get(callHeader)
	if number == "" {
		return c.next.RoundTrip(r)
	}
	call, ok := c.calls.Load(number)
	if !ok {
		return nil, context.Canceled
	}
	r = r.Clone(call.(context.Context))
	r.Header.Del(callHeader)
	return c.next.RoundTrip(r)
}
