package main

import (
	"context"
	"net/netip"

	"github.com/antipode-bench/antipode/providers"
)

// labCloud is a cloud that ends with its lab: from then on every call ends at
// once, and nothing is left, because nothing in a lab survives it.
type labCloud struct {
	providers.Provider
	ended <-chan struct{} // closed when the lab has
}

// bound is ctx until the lab ends.
func (c labCloud) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-c.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (c labCloud) Preflight(ctx context.Context, w providers.Wanted) providers.Preflight {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	return providers.Ask(ctx, c.Provider, w)
}

func (c labCloud) Launch(ctx context.Context, spec providers.Spec) (providers.Machine, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	return c.Provider.Launch(ctx, spec)
}

func (c labCloud) Admit(ctx context.Context, run providers.Run, region string, probePort int, peers []netip.Addr) error {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	return c.Provider.Admit(ctx, run, region, probePort, peers)
}

func (c labCloud) List(ctx context.Context, runID string, regions []string) ([]providers.Resource, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	left, err := c.Provider.List(ctx, runID, regions)
	if err != nil && closed(c.ended) {
		return nil, nil
	}
	return left, err
}

func (c labCloud) Destroy(ctx context.Context, runID string, regions []string) error {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	err := c.Provider.Destroy(ctx, runID, regions)
	if err != nil && closed(c.ended) {
		return nil
	}
	return err
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
