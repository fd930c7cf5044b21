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
)

// Agent carries out a controller's requests.
type Agent struct {
	build string // version of the binary
	out   *wire.Writer

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
// is no error. Everything it started ends with it, or with ctx, and has ended
// when it returns, or had windDown to.
func (a *Agent) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer a.wait()
	defer cancel(errGone)
	a.out = wire.NewWriter(out)
	if err := a.out.Write(describe(a.build)); err != nil {
		return err
	}
	lines := wire.NewReader(in)
	for {
		var req wire.Request
		err := lines.Read(&req)
		var syntax *wire.SyntaxError
		switch {
		case errors.As(err, &syntax):
			err = a.out.Write(wire.Response{ID: idOf(syntax.Line), Error: err.Error()})
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
			err = a.take(ctx, req)
		}
		if err != nil {
			return err
		}
	}
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
	if req.RTT != nil {
		resp.RTT, err = c.RTT(ctx, *req.RTT)
	} else {
		resp.Throughput, err = c.Throughput(ctx, *req.Throughput)
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
	server, err := Listen(req.Serve.Secret, req.Serve.Port)
	if err != nil {
		return a.answer(wire.Response{ID: req.ID}, fmt.Errorf("serve: %w", err))
	}
	a.server, a.client = server, NewClient(req.Serve.Secret)
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
