package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
)

// machine is one region's machine. Its own goroutine writes it until it is
// ready; after that nobody does.
type machine struct {
	fleet    *fleet
	region   antipode.Region
	provider providers.Provider
	made     providers.Machine // as far as the cloud got
	conn     Conn
	agent    Agent
	hello    wire.Hello // of the agent
}

func (m *machine) id() string { return m.region.ID() }

// live brings the machine up, says so, and watches over it until its agent or
// ctx ends. The machine itself stays: teardown is not by machine.
func (m *machine) live(ctx context.Context) {
	defer m.close()
	err := m.bringUp(ctx)
	if err == nil {
		m.hello = m.agent.Hello()
		err = must(m.fleet.journal.write(Record{What: RecordReady, Region: m.id(), Hello: &m.hello}))
	}
	if err == nil {
		m.fleet.tell(news{machine: m})
		select {
		case <-m.agent.Done():
			err = m.agent.Err()
		case <-ctx.Done():
			return
		}
	}
	m.fleet.tell(news{machine: m, lost: err})
}

// bringUp launches, and then reaches the machine while the others are still
// being launched. Every step has a limit.
func (m *machine) bringUp(ctx context.Context) error {
	err := m.launch(ctx)
	m.fleet.launches.Done()
	if err != nil {
		return step("launch", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return m.reach(ctx) })
	g.Go(func() error { return m.admit(ctx) })
	return g.Wait()
}

// launch makes the machine. The journal holds the intent before the call: what
// can't be written down is not made.
func (m *machine) launch(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	spec, err := m.spec()
	if err != nil {
		return err
	}
	intent := Record{What: RecordLaunch, Region: m.id(), MachineType: spec.MachineType}
	if err := must(m.fleet.journal.write(intent)); err != nil {
		return err
	}
	m.fleet.intended(m)
	m.enter(StateLaunching)
	err = within(ctx, m.fleet.cfg.Limits.Launch, func(ctx context.Context) error {
		m.made, err = m.provider.Launch(ctx, spec)
		return err
	})
	m.fleet.launched(m, err)
	if err != nil {
		return err
	}
	m.made = m.fleet.history.pinned(m.id(), m.made)
	return must(m.fleet.journal.write(Record{What: RecordLaunched, Region: m.id(), Machine: &m.made}))
}

func (m *machine) spec() (providers.Spec, error) {
	cfg := &m.fleet.cfg
	private, public, err := cfg.Remote.HostKey(m.id())
	if err != nil {
		return providers.Spec{}, fmt.Errorf("make host key: %w", err)
	}
	return providers.Spec{
		Run:           cfg.run(),
		Region:        m.region.Name,
		MachineType:   cfg.MachineTypes[m.region.Cloud],
		OtherTypes:    cfg.Choice.OtherTypes[m.region.Cloud],
		Zones:         cfg.Choice.Zones[m.id()],
		AuthorizedKey: cfg.Remote.AuthorizedKey(),
		HostKeyPEM:    private,
		HostKey:       public,
		SSHFrom:       cfg.ControllerAddr,
		Adopt:         m.fleet.history.launched(m.region),
	}, nil
}

// reach takes the machine from booting to an agent that listens.
func (m *machine) reach(ctx context.Context) error {
	limits := m.fleet.cfg.Limits
	var path string
	for _, s := range []struct {
		state State
		limit time.Duration
		do    func(context.Context) error
	}{
		{StateBooting, limits.Connect, func(ctx context.Context) (err error) {
			m.conn, err = m.fleet.cfg.Remote.Connect(ctx, m.made)
			return err
		}},
		{StatePushing, limits.Push, func(ctx context.Context) (err error) {
			path, err = m.conn.Push(ctx)
			return err
		}},
		{StateStarting, limits.Agent, func(ctx context.Context) (err error) {
			m.agent, err = m.conn.StartAgent(ctx, path)
			return err
		}},
		{StateStarting, limits.Agent, m.serve},
	} {
		m.enter(s.state)
		if err := within(ctx, s.limit, s.do); err != nil {
			return err
		}
	}
	m.enter(StateWaiting)
	return nil
}

// portPause is between two looks whether the agent of an earlier process, whose
// connection ended with that, has let go of the port.
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

// admit lets the machine's peers in, once it is known who they are: when every
// launch has ended, well or not.
func (m *machine) admit(ctx context.Context) error {
	if err := m.fleet.launches.wait(ctx); err != nil {
		return err
	}
	peers := m.fleet.peersOf(m)
	if len(peers) == 0 {
		return nil
	}
	return step("admit peers", within(ctx, m.fleet.cfg.Limits.Admit, func(ctx context.Context) error {
		return m.provider.Admit(ctx, m.fleet.cfg.run(), m.region.Name, m.probePort(), peers)
	}))
}

// probePort is where the machine's agent listens.
func (m *machine) probePort() int { return cmp.Or(m.made.ProbePort, m.fleet.cfg.ProbePort) }

func (m *machine) enter(s State) {
	m.fleet.reporter.report(Event{Kind: RegionChanged, Region: m.id(), State: s})
}

// close ends the connection and, with it, the agent.
func (m *machine) close() {
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
}

// within runs f with a time limit. An error after the limit says so.
func within(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	lctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no success within %v", limit))
	defer cancel()
	err := f(lctx)
	if cause := context.Cause(lctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// step says during what an error came about.
func step(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}
