package orchestrator

import (
	"context"
	"errors"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/remote"
)

// guest is a machine while one agent of ours answers there: what tests are
// given. It never changes; a machine that was lost and reached again is another.
type guest struct {
	region string // id
	made   providers.Machine
	agent  Agent
	port   int // where the agent listens
	tuned  []remote.Setting
	cut    chan error // why somebody took the agent for dead
}

func (m *machine) guest() *guest {
	return &guest{region: m.id(), made: m.made, agent: m.agent, port: m.probePort(), tuned: m.settings, cut: make(chan error, 1)}
}

// giveUp ends watch. Safe to call again.
func (g *guest) giveUp(err error) {
	select {
	case g.cut <- err:
	default:
	}
}

// watch waits until the agent ends or is given up, and says why; or for ctx.
func (g *guest) watch(ctx context.Context) error {
	select {
	case <-g.agent.Done():
		return g.agent.Err()
	case err := <-g.cut:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// aliveLimit is longer than a connection takes to notice that it is dead.
const aliveLimit = 25 * time.Second

// errSilent is an agent that does not even say that it is there.
var errSilent = errors.New("the agent does not answer")

// alive asks the agent whether it is there.
func (g *guest) alive(ctx context.Context) error {
	actx, cancel := context.WithTimeoutCause(ctx, aliveLimit, errSilent)
	defer cancel()
	_, err := g.agent.Call(actx, wire.Request{Alive: &wire.Alive{}})
	switch {
	case err == nil || ctx.Err() != nil: // or nobody wants to know any more
		return nil
	case over(g.agent.Done()):
		return g.agent.Err()
	}
	return errSilent
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
