//go:build linux

package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

const (
	// maxRequests may run at a time.
	maxRequests = 64
	// windDown is how long an agent waits for what it has cancelled.
	windDown = 2 * time.Second
)

var (
	errGone      = errors.New("the controller is gone")
	errCancelled = errors.New("cancelled by the controller")
	errSilence   = errors.New("nothing was heard from the controller")
)

// Agent carries out a controller's requests.
type Agent struct {
	Linger time.Duration // the longest silence of the controller that it lives through; 0: any

	build   string // version of the binary
	out     *wire.Writer
	yielded <-chan struct{} // nil before it serves

	wg      sync.WaitGroup
	mu      sync.Mutex
	running map[uint64]context.CancelCauseFunc
	server  *Server
	client  *Client
}

// NewAgent returns an Agent that gives build as its version.
func NewAgent(build string) *Agent {
	return &Agent{build: build, running: map[uint64]context.CancelCauseFunc{}}
}

// Run says hello on out and answers the requests on in until in ends, which
// is no error, or says nothing for longer than Linger, or another agent of the
// run takes the port over. Everything it started ends with it, or with ctx, and
// has ended when it returns, or had windDown to; only a read from in may go on.
func (a *Agent) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer a.wait()
	defer cancel(errGone)
	a.out = wire.NewWriter(out)
	if err := a.out.Write(describe(a.build)); err != nil {
		return err
	}
	requests := listen(ctx, in)
	for {
		select {
		case r := <-requests:
			if err := a.hear(ctx, r); err != nil {
				return unlessEOF(err)
			}
		case <-a.silence():
			return fmt.Errorf("%w for %v", errSilence, a.Linger)
		case <-a.yielded:
			return errYielded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// silence fires when the next request is overdue.
func (a *Agent) silence() <-chan time.Time {
	if a.Linger == 0 {
		return nil
	}
	return time.After(a.Linger)
}

// request is what a line of the controller's holds, or why it holds none.
type request struct {
	wire.Request
	err error
}

// listen reads until in ends or, between two lines, ctx does.
func listen(ctx context.Context, in io.Reader) <-chan request {
	requests := make(chan request)
	go func() {
		lines := wire.NewReader(in)
		for {
			var r request
			r.err = lines.Read(&r.Request)
			select {
			case requests <- r:
			case <-ctx.Done():
				return
			}
			if _, syntax := errors.AsType[*wire.SyntaxError](r.err); r.err != nil && !syntax {
				return
			}
		}
	}()
	return requests
}

// hear answers or starts a request; its error ends the agent.
func (a *Agent) hear(ctx context.Context, r request) error {
	if syntax, is := errors.AsType[*wire.SyntaxError](r.err); is {
		return a.out.Write(wire.Response{ID: idOf(syntax.Line), Error: r.err.Error()})
	}
	if r.err != nil {
		return r.err
	}
	return a.take(ctx, r.Request)
}

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// idOf finds the ID in a line that is no request, so that its sender learns.
func idOf(line []byte) uint64 {
	var id struct {
		ID uint64 `json:"id"`
	}
	if json.Unmarshal(line, &id) != nil {
		return 0
	}
	return id.ID
}

// take answers a request at once or starts it.
func (a *Agent) take(ctx context.Context, req wire.Request) error {
	if err := req.Validate(); err != nil {
		return a.answer(wire.Response{ID: req.ID}, err)
	}
	switch {
	case req.Serve != nil:
		return a.serve(ctx, req)
	case req.Alive != nil:
		return a.answer(wire.Response{ID: req.ID}, nil)
	case req.Cancel != nil:
		return a.answer(wire.Response{ID: req.ID}, a.cancel(req.Cancel.ID))
	}
	client, ctx, err := a.begin(ctx, req.ID)
	if err != nil {
		return a.answer(wire.Response{ID: req.ID}, err)
	}
	a.wg.Go(func() {
		resp, err := measure(ctx, client, req)
		a.end(req.ID)
		a.answer(resp, err) // a broken out is also a broken in
	})
	return nil
}

func measure(ctx context.Context, c *Client, req wire.Request) (resp wire.Response, err error) {
	resp.ID = req.ID
	switch {
	case req.RTT != nil:
		resp.RTT, err = c.RTT(ctx, *req.RTT)
	case req.UDP != nil:
		resp.UDP, err = c.UDP(ctx, *req.UDP)
	default:
		resp.Throughput, resp.Loaded, err = c.Loaded(ctx, *req.Throughput)
	}
	return resp, err
}

// answer sends a response, or why it can't be sent: a request never stays
// without an answer.
func (a *Agent) answer(resp wire.Response, err error) error {
	if err != nil {
		resp.Error = err.Error()
	}
	err = a.out.Write(resp)
	var value *json.UnsupportedValueError
	if errors.As(err, &value) {
		return a.out.Write(wire.Response{ID: resp.ID, Error: "no result: " + err.Error()})
	}
	return err
}

// serve starts the server, once in the agent's life.
func (a *Agent) serve(ctx context.Context, req wire.Request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server != nil {
		return a.answer(wire.Response{ID: req.ID}, errors.New("serve: the agent serves already"))
	}
	server, err := takeOver(ctx, req.Serve.Secret, req.Serve.Port)
	if err != nil {
		return a.answer(wire.Response{ID: req.ID}, fmt.Errorf("serve: %w", err))
	}
	a.server, a.client, a.yielded = server, NewClient(req.Serve.Secret), server.yielded
	a.wg.Go(func() { server.Serve(ctx) })
	return a.answer(wire.Response{ID: req.ID, Serve: &wire.ServeResult{Port: server.Port()}}, nil)
}

// begin enters a request among the running.
func (a *Agent) begin(ctx context.Context, id uint64) (*Client, context.Context, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.client == nil:
		return nil, nil, errors.New("serve comes before any test")
	case a.running[id] != nil:
		return nil, nil, fmt.Errorf("request %d is running already", id)
	case len(a.running) >= maxRequests:
		return nil, nil, fmt.Errorf("busy with %d requests", maxRequests)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	a.running[id] = cancel
	return a.client, ctx, nil
}

func (a *Agent) end(id uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[id](nil)
	delete(a.running, id)
}

func (a *Agent) cancel(id uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	cancel := a.running[id]
	if cancel == nil {
		return fmt.Errorf("no request %d is running", id)
	}
	cancel(errCancelled)
	return nil
}

// wait gives what was cancelled time to end. A goroutine that writes to a
// broken controller may not; it ends with the process.
func (a *Agent) wait() {
	ended := make(chan struct{})
	go func() { a.wg.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(windDown):
	}
}
