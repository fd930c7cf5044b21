package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// RequestError is an agent's answer that a request failed. The agent goes on.
type RequestError struct {
	Machine string
	Message string
}

func (e *RequestError) Error() string { return fmt.Sprintf("agent on %s: %s", e.Machine, e.Message) }

// Call sends a request, whose ID it sets, and waits for the answer. Calls may
// overlap. When the agent says that the request failed, the error is a
// *RequestError and the response holds what was measured until then. When ctx
// ends first the agent is told to cancel and Call returns at once; when the
// agent ends, every Call returns with the reason.
func (a *Agent) Call(ctx context.Context, req wire.Request) (wire.Response, error) {
	id, answer := a.register()
	defer a.forget(id)
	req.ID = id
	line, err := a.encode(req)
	if err != nil {
		return wire.Response{}, err
	}
	select {
	case a.out <- line:
	case <-a.done:
		return wire.Response{}, a.err
	case <-ctx.Done():
		return wire.Response{}, a.canceled(ctx)
	}
	select {
	case r := <-answer:
		return a.result(r)
	case <-ctx.Done():
		a.cancel(id)
		return wire.Response{}, a.canceled(ctx)
	case <-a.done:
	}
	select { // the answer may have been the agent's last words
	case r := <-answer:
		return a.result(r)
	default:
		return wire.Response{}, a.err
	}
}

func (a *Agent) result(r wire.Response) (wire.Response, error) {
	if r.Error != "" {
		return r, &RequestError{Machine: a.conn.target.Name, Message: r.Error}
	}
	return r, nil
}

func (a *Agent) canceled(ctx context.Context) error {
	return fmt.Errorf("call to the agent on %s: %w", a.conn.target.Name, context.Cause(ctx))
}

// cancel tells the agent that nobody waits for the request any more. It does
// not wait itself, not even for the line to be taken.
func (a *Agent) cancel(id uint64) {
	a.conn.spawn(func() { a.say(wire.Request{Cancel: &wire.Cancel{ID: id}}) })
}

// sayAlive keeps the agent from ending in silence, until it has ended.
func (a *Agent) sayAlive() {
	tick := time.NewTicker(a.conn.options.AliveInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.say(wire.Request{Alive: &wire.Alive{}})
		case <-a.done:
			return
		}
	}
}

// say sends a request whose answer interests nobody.
func (a *Agent) say(req wire.Request) {
	id, _ := a.register()
	a.forget(id)
	req.ID = id
	line, err := a.encode(req)
	if err != nil {
		return
	}
	select {
	case a.out <- line:
	case <-a.done:
	}
}

func (a *Agent) encode(req wire.Request) ([]byte, error) {
	line, err := json.Marshal(req)
	if err == nil && len(line) > wire.MaxLine {
		err = fmt.Errorf("%d bytes are too long for one message", len(line))
	}
	if err != nil {
		return nil, fmt.Errorf("call to the agent on %s: %w", a.conn.target.Name, err)
	}
	return append(line, '\n'), nil
}

// register makes an ID whose answer is awaited. The channel takes it without a reader.
func (a *Agent) register() (uint64, chan wire.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lastID++
	answer := make(chan wire.Response, 1)
	a.pending[a.lastID] = answer
	return a.lastID, answer
}

func (a *Agent) forget(id uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pending, id)
}

// deliver hands a line of the agent to the call that waits for it.
func (a *Agent) deliver(line []byte) error {
	var r wire.Response
	if err := json.Unmarshal(line, &r); err != nil {
		return garbage(line, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.ID == 0 || r.ID > a.lastID {
		return garbage(line, fmt.Errorf("it answers request %d, which was never made", r.ID))
	}
	if answer, ok := a.pending[r.ID]; ok { // else its caller has left
		delete(a.pending, r.ID)
		answer <- r
	}
	return nil
}
