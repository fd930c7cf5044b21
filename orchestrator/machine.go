package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

// machine is one region's machine. Only its own goroutine touches it; what
// others need of it is in its guest.
type machine struct {
	fleet    *fleet
	region   antipode.Region
	provider providers.Provider
	made     providers.Machine // as far as the cloud got
	conn     Conn              // the present one
	agent    Agent             // at its end
	settings []remote.Setting  // of the machine, as far as they were to be tuned
	reached  bool              // it was ready, or the one that it replaces was

	replaced bool               // it, or an earlier one
	instead  *providers.Machine // the machine that the next launch replaces
}

func (m *machine) id() string { return m.region.ID() }

// live brings the machine up, says so, and watches over it until ctx ends or it
// is lost for good. The machine itself stays: teardown is not by machine.
func (m *machine) live(ctx context.Context) {
	defer m.hangUp()
	err := m.bringUp(ctx)
	for ctx.Err() == nil {
		switch {
		case err == nil:
			err = m.serveUntilLost(ctx)
		case m.replaceable(err):
			err = m.replace(ctx, err)
		default:
			m.fleet.tell(ctx, news{id: m.id(), made: m.made, lost: err})
			return
		}
	}
}

// serveUntilLost says that the machine is ready, and dials it again once it does not
// answer any more: without an error it is ready again.
func (m *machine) serveUntilLost(ctx context.Context) error {
	g := m.guest()
	hello := g.agent.Hello()
	if err := must(m.fleet.journal.write(Record{What: RecordReady, Region: m.id(), Hello: &hello, Settings: m.settings})); err != nil {
		return err
	}
	m.reached = true
	m.fleet.reached.Store(true)
	m.fleet.answer.Add(1)
	m.fleet.tell(ctx, news{id: m.id(), made: m.made, ready: g})
	why := g.watch(ctx)
	m.fleet.answer.Add(-1)
	m.fleet.tell(ctx, news{id: m.id(), made: m.made, away: why})
	if ctx.Err() != nil {
		return why
	}
	return m.reachAgain(ctx, why)
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
	g.Go(func() error { return m.reachFirst(ctx) })
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
	intent := Record{What: RecordLaunch, Region: m.id(), MachineType: spec.MachineType, Instead: spec.Instead}
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
	m.instead = nil
	m.made = m.fleet.history.pinned(m.id(), m.made)
	if err := m.fleet.journal.write(Record{What: RecordLaunched, Region: m.id(), Machine: &m.made}); err != nil {
		return must(err)
	}
	return m.fleet.cfg.Choice.addressed(m.made)
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
		Network:       cfg.Choice.Networks[m.id()],
		NetworkTier:   cfg.Choice.NetworkTier,
		Spot:          cfg.Choice.Spot,
		IPv6:          cfg.Choice.ipv6(),
		Zones:         cfg.Choice.Zones[m.id()],
		AuthorizedKey: cfg.Remote.AuthorizedKey(),
		HostKeyPEM:    private,
		HostKey:       public,
		SSHFrom:       cfg.ControllerAddr,
		Instead:       m.instead,
		Adopt:         m.fleet.history.launched(m.region),
	}, nil
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
