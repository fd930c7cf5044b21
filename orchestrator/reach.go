package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// reach takes the machine from booting to an agent that listens. connect is how
// long its SSH may take to answer.
func (m *machine) reach(ctx context.Context, connect time.Duration) error {
	limits := m.fleet.cfg.Limits
	var path string
	for _, s := range []struct {
		state State
		limit time.Duration
		do    func(context.Context) error
	}{
		{StateBooting, connect, func(ctx context.Context) (err error) {
			m.conn, err = m.fleet.cfg.Remote.Connect(ctx, m.made)
			return err
		}},
		{StatePushing, limits.Push, func(ctx context.Context) (err error) {
			path, err = m.conn.Push(ctx)
			return err
		}},
		{StateStarting, limits.Agent, m.tune},
		{StateStarting, limits.Agent, func(ctx context.Context) (err error) {
			m.agent, err = m.conn.StartAgent(ctx, path)
			return err
		}},
		{StateStarting, limits.Agent + max(limits.Linger(), wire.DefaultLinger), m.serve},
	} {
		m.enter(s.state)
		err := within(ctx, s.limit, s.do)
		if err != nil && s.state == StateBooting {
			return &unreachedError{err}
		}
		if err != nil {
			return err
		}
	}
	m.enter(StateWaiting)
	return nil
}

// reachFirst is reach for a machine that was just made. A connection that is lost
// before the agent listens is no worse than one that is lost later.
func (m *machine) reachFirst(ctx context.Context) error {
	err := m.reach(ctx, m.connectLimit())
	if !m.cut(ctx, err) {
		return err
	}
	return m.reachAgain(ctx, err)
}

// cut reports whether err came about because a connection was lost.
func (m *machine) cut(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && m.conn != nil && over(m.conn.Done())
}

// maxDials is how often a machine is dialled again whose connection is lost
// each time before the agent listens.
const maxDials = 3

// reachAgain dials a machine again whose agent or connection was lost, and has a
// new agent take the old one's place: nothing of the old one's is needed but its
// port, which it gives up to whoever has the run's secret.
func (m *machine) reachAgain(ctx context.Context, why error) error {
	m.hangUp()
	dctx, end := context.WithCancelCause(ctx)
	var looking sync.WaitGroup
	if !m.made.Lent {
		looking.Go(func() { m.lookFor(dctx, end) })
	}
	err := m.reach(dctx, m.fleet.cfg.Limits.Reconnect)
	for dials := 1; dials < maxDials && m.cut(dctx, err); dials++ {
		m.hangUp()
		err = m.reach(dctx, m.fleet.cfg.Limits.Reconnect)
	}
	taken := errors.Is(context.Cause(dctx), errTaken)
	end(nil)
	looking.Wait()
	switch {
	case err == nil:
		return nil
	case taken:
		return errTaken
	}
	return fmt.Errorf("%w; then: %w", why, err)
}

// lentLimit is how long a lent machine may take to answer: it does not boot.
const lentLimit = 30 * time.Second

// connectLimit is for the first connection.
func (m *machine) connectLimit() time.Duration {
	limit := m.fleet.cfg.Limits.Connect
	if m.made.Lent {
		return min(limit, lentLimit)
	}
	return limit
}

// portPause is between two looks whether the agent of an earlier process, whose
// connection ended with that or which ends in silence, has let go of the port.
const portPause = time.Second

// serve makes the agent listen for its peers.
func (m *machine) serve(ctx context.Context) error {
	port := m.probePort()
	request := wire.Request{Serve: &wire.Serve{Secret: m.fleet.secret, Port: port}}
	resp, err := m.agent.Call(ctx, request)
	for inUse(err) && sleep(ctx, portPause) {
		resp, err = m.agent.Call(ctx, request)
	}
	switch {
	case err != nil:
		return err
	case resp.Serve == nil || resp.Serve.Port != port:
		return fmt.Errorf("the agent does not listen on port %d", port)
	}
	return nil
}

func inUse(err error) bool {
	return err != nil && strings.Contains(err.Error(), "address already in use")
}

// probePort is where the machine's agent listens.
func (m *machine) probePort() int { return cmp.Or(m.made.ProbePort, m.fleet.cfg.ProbePort) }

func (m *machine) enter(s State) {
	m.fleet.reporter.report(Event{Kind: RegionChanged, Region: m.id(), State: s})
}

// hangUp ends the connection and, as far as the machine is reached, the agent.
func (m *machine) hangUp() {
	if m.conn == nil {
		return
	}
	level := slog.LevelDebug
	if m.made.Lent { // nobody else clears up there
		level = slog.LevelWarn
	}
	if err := m.conn.Close(); err != nil {
		m.fleet.cfg.Log.Log(context.Background(), level, "close connection", "region", m.id(), "error", err)
	}
	m.conn, m.agent = nil, nil
}
