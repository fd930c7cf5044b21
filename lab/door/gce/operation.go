package gce

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/antipode-bench/antipode/lab/door/rack"
)

// operation is a change under way.
type operation struct {
	operationJSON
	fingerprint string // of the request that began it
	done        chan struct{}
}

type operationJSON struct {
	Kind              string    `json:"kind"`
	ID                ulong     `json:"id"`
	Name              string    `json:"name"`
	Zone              string    `json:"zone,omitempty"`
	Region            string    `json:"region,omitempty"`
	ClientOperationID string    `json:"clientOperationId,omitempty"`
	OperationType     string    `json:"operationType"`
	TargetLink        string    `json:"targetLink"`
	TargetID          ulong     `json:"targetId"`
	Status            string    `json:"status"`
	User              string    `json:"user"`
	Progress          int       `json:"progress"`
	InsertTime        string    `json:"insertTime"`
	StartTime         string    `json:"startTime,omitempty"`
	EndTime           string    `json:"endTime,omitempty"`
	Error             *opErrors `json:"error,omitempty"`
	HTTPStatus        int       `json:"httpErrorStatusCode,omitempty"`
	HTTPMessage       string    `json:"httpErrorMessage,omitempty"`
	SelfLink          string    `json:"selfLink"`
}

type opErrors struct {
	Errors []opError `json:"errors"`
}

type opError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// operate begins an operation on a target and returns it as the answer. The
// work runs without the door's lock; its error is the operation's.
func (q *request) operate(kind string, target meta, work func(context.Context) *flop) *operationJSON {
	d := q.door
	id := d.rack.Uint64() >> 1
	op := &operation{done: make(chan struct{}), operationJSON: operationJSON{
		Kind: "compute#operation", ID: ulong(id), Name: fmt.Sprintf("operation-%d-%016x", time.Now().UnixMilli(), id),
		OperationType: kind, TargetLink: target.SelfLink, TargetID: target.ID, Status: "PENDING", User: "antipode@" + d.project + ".test",
		InsertTime: timestamp(time.Now()),
	}}
	switch {
	case q.zone != "":
		op.Zone = d.link("zones", q.zone)
		op.SelfLink = op.Zone
	case q.region != "":
		op.Region = d.link("regions", q.region)
		op.SelfLink = op.Region
	default:
		op.SelfLink = d.link("global")
	}
	op.SelfLink += "/operations/" + op.Name
	d.operations[op.Name] = op
	d.rack.Go(func(ctx context.Context) { d.carryOut(ctx, op, work) })
	return &op.operationJSON
}

// carryOut takes an operation through its life.
func (d *Door) carryOut(ctx context.Context, op *operation, work func(context.Context) *flop) {
	defer close(op.done)
	half := d.rack.Duration(d.rack.Timing.Operation) / 2
	if rack.Sleep(ctx, half) != nil {
		return // the lab closes
	}
	d.mu.Lock()
	op.Status, op.StartTime = "RUNNING", timestamp(time.Now())
	d.mu.Unlock()
	flop := work(ctx)
	if rack.Sleep(ctx, half) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	op.Status, op.Progress, op.EndTime = "DONE", 100, timestamp(time.Now())
	if flop != nil {
		op.Error = &opErrors{[]opError{{flop.Code, flop.Message}}}
		op.HTTPStatus, op.HTTPMessage = flop.StatusCode, flop.StatusMessage
	}
}

func (q *request) operation() (*operation, error) {
	name := q.PathValue("name")
	op := q.door.operations[name]
	scope := []string{"global"}
	switch {
	case q.zone != "":
		scope = []string{"zones", q.zone}
	case q.region != "":
		scope = []string{"regions", q.region}
	}
	path := append(scope, "operations", name)
	if op == nil || op.SelfLink != q.door.link(path...) {
		return nil, notFound(q.door.path(path...))
	}
	return op, nil
}

func (q *request) getOperation() (any, error) {
	op, err := q.operation()
	if err != nil {
		return nil, err
	}
	return &op.operationJSON, nil
}

// maxWait is how long the API waits for an operation at most.
const maxWait = 2 * time.Minute

func (q *request) waitOperation() (any, error) {
	q.door.mu.Lock()
	op, err := q.operation()
	q.door.mu.Unlock()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(q.Context(), maxWait)
	defer cancel()
	select {
	case <-op.done:
	case <-q.door.rack.Closing():
		return nil, &failure{http.StatusServiceUnavailable, "backendError", "The lab closes"}
	case <-ctx.Done():
	}
	q.door.mu.Lock()
	defer q.door.mu.Unlock()
	now := op.operationJSON
	return &now, nil
}
