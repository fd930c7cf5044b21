package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

// unreachedError is a machine whose SSH does not answer.
type unreachedError struct{ err error }

func (e *unreachedError) Error() string { return e.err.Error() }
func (e *unreachedError) Unwrap() error { return e.err }

// neverError is a region in which no machine was ever reached, though it was
// replaced: the region is left out.
type neverError struct{ err error }

func (e *neverError) Error() string { return e.err.Error() }
func (e *neverError) Unwrap() error { return e.err }

// errTaken is a machine that is not in its cloud any more.
var errTaken = errors.New("the machine is gone: its cloud or somebody else has ended it")

// replaceable reports whether another machine, elsewhere in the region, may
// mend err: once in a run, and never where machines are lent. While no machine
// at all was reached, or all are away at once, it is more likely us who can't reach any.
func (m *machine) replaceable(err error) bool {
	if m.replaced || m.made.Lent || !m.fleet.reached.Load() || m.made.ID == "" || fatal(err) {
		return false
	}
	if _, wrong := errors.AsType[*remote.HostKeyError](err); wrong {
		return false // somebody is in between: another machine is no answer
	}
	if errors.Is(err, errTaken) {
		return true
	}
	return unreachable(err) && (!m.reached || m.fleet.answer.Load() > 0)
}

// unreachable is true of a machine whose SSH does not answer, or that never got
// what it takes to be dialled: an address, a host key.
func unreachable(err error) bool {
	if _, unreached := errors.AsType[*unreachedError](err); unreached {
		return true
	}
	e, cloud := errors.AsType[*providers.Error](err)
	return cloud && e.Op == "Launch" && (e.Kind == providers.Unknown || e.Kind == providers.Timeout)
}

// replace ends the machine and brings up another one in its place. The peers
// learn of its address.
func (m *machine) replace(ctx context.Context, why error) error {
	m.hangUp()
	old := m.made
	m.replaced, m.instead = true, &old
	m.fleet.cfg.Log.Info("machine is replaced", "region", m.id(), "machine", old.ID, "zone", old.Zone, "error", why)
	m.enter(StateReplacing)
	err := m.launch(ctx)
	if err == nil {
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return m.reachFirst(ctx) })
		g.Go(func() error { return m.admit(ctx) })
		g.Go(func() error { return m.introduce(ctx) })
		err = g.Wait()
	}
	if err == nil {
		return nil
	}
	both := fmt.Errorf("%w; its replacement: %w", why, err)
	if unreachable(err) && !m.reached {
		return &neverError{both}
	}
	return both
}

// introduce has all machines let this one in that it measures towards.
func (m *machine) introduce(ctx context.Context) error {
	var g errgroup.Group
	for _, to := range m.fleet.targetsOf(m) {
		g.Go(func() error {
			return step("admit "+m.id()+" to "+to.ID(), within(ctx, m.fleet.cfg.Limits.Admit, func(ctx context.Context) error {
				p := m.fleet.cfg.Providers[to.Cloud]
				return p.Admit(ctx, m.fleet.cfg.run(), to.Name, m.fleet.cfg.ProbePort, []netip.Addr{m.fleet.cfg.Choice.address(m.made)})
			}))
		})
	}
	return g.Wait()
}

// lookPause is between two looks whether a machine that does not answer is
// still in its cloud.
const lookPause = 10 * time.Second

// lookFor ends a dialling with errTaken once the machine is known to be gone. A
// cloud that does not answer says nothing.
func (m *machine) lookFor(ctx context.Context, end context.CancelCauseFunc) {
	for ctx.Err() == nil {
		there, err := m.provider.List(ctx, m.fleet.cfg.RunID, []string{m.region.Name})
		gone := !slices.ContainsFunc(there, func(r providers.Resource) bool {
			return r.Kind == providers.Instance && r.ID == m.made.ID && r.Zone == m.made.Zone
		})
		if err == nil && gone {
			end(errTaken)
		}
		sleep(ctx, lookPause)
	}
}

// anew plans the round trips of a replaced machine once more: a pair's figures
// are all of the same two machines.
func (m *measurement) anew(id string) {
	var pairs []plan.Pair
	for _, pair := range m.run.cfg.Pairs {
		p := m.open[directionOf(pair)]
		if p != nil && p.rtt != nil && (pair.From.ID() == id || pair.To.ID() == id) {
			p.rtt = nil
			pairs = append(pairs, pair)
		}
	}
	for _, task := range plan.Tasks(pairs, m.run.cfg.Isolation) {
		if task.Kind == plan.RTT {
			m.schedule.Again(task)
		}
	}
}
