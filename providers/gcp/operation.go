package gcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/antipode-bench/antipode/providers"
)

// operationLimit bounds one operation. A machine that stops takes the longest,
// about a minute.
const operationLimit = 5 * time.Minute

// operationTries is how often an operation is begun that ends with an error
// which may pass, such as INTERNAL_ERROR or RESOURCE_NOT_READY.
const operationTries = 4

// change makes a call that begins an operation, and waits for its end. One that
// failed is begun anew, as another request: the same would be the same operation.
func change[In proto.Message](ctx context.Context, p *Provider, region, op string,
	method func(context.Context, In, ...gax.CallOption) (*compute.Operation, error), in In) error {
	tries := 0
	pauses := providers.AtOnce(providers.Growing(2*time.Second, 2, 20*time.Second))
	return providers.Poll(ctx, operationTries*operationLimit, pauses, op, func(ctx context.Context) (bool, error) {
		setRequestID(in)
		operation, err := ask(ctx, p, region, op, method, in)
		if err != nil {
			return false, err // ask tried again
		}
		err = p.finish(ctx, region, op, operation)
		_, failed := errors.AsType[*operationError](err)
		if tries++; failed && providers.Passes(err) && tries < operationTries {
			return false, nil
		}
		return true, err
	})
}

func setRequestID(in proto.Message) {
	m := in.ProtoReflect()
	m.Set(m.Descriptor().Fields().ByName("request_id"), protoreflect.ValueOfString(requestID()))
}

// finish waits for an operation and returns the error it ended with. The SDK's
// own Wait sleeps up to a minute, takes some failures for success, and drops
// the codes of the others.
func (p *Provider) finish(ctx context.Context, region, op string, o *compute.Operation) error {
	err := providers.Poll(ctx, operationLimit, providers.AtOnce(providers.Steady()), op+" "+o.Name(), func(ctx context.Context) (bool, error) {
		if o.Done() {
			return true, nil // some are from the start
		}
		_, err := call(ctx, p, region, op+", its operation", func(ctx context.Context) (any, error) {
			err := o.Poll(ctx, once)
			if o.Done() {
				return nil, nil // the error is the operation's, read below
			}
			return nil, err
		})
		return err == nil && o.Done(), err
	})
	if err == nil {
		err = outcome(o.Proto())
	}
	if err == nil {
		return nil
	}
	kind := classify(err)
	if kind == providers.Unknown {
		return providers.Wrap(Cloud, region, op, err)
	}
	return explained(&providers.Error{Op: op, Cloud: Cloud, Region: region, Kind: kind, Err: err})
}

// outcome is what an operation that is done ended with.
func outcome(o *computepb.Operation) error {
	status := int(o.GetHttpErrorStatusCode())
	if list := o.GetError().GetErrors(); len(list) > 0 {
		return &operationError{code: list[0].GetCode(), message: list[0].GetMessage(), status: status}
	}
	if status >= http.StatusBadRequest {
		return &operationError{code: fmt.Sprint(status), message: o.GetHttpErrorMessage(), status: status}
	}
	return nil
}

// requestID is a random UUID (version 4), the same for all tries of one call,
// so that a repeat is not a second request. It does not outlive the call: a
// machine made again after it was destroyed would be taken for a repeat. What
// an earlier call made is found by its name instead.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
