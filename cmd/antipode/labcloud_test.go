package main

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/antipode-bench/antipode/providers"
)

// stuckCloud answers no call before the caller gives up.
type stuckCloud struct{ providers.Provider }

func (stuckCloud) Launch(ctx context.Context, _ providers.Spec) (providers.Machine, error) {
	<-ctx.Done()
	return providers.Machine{ID: "i-1"}, ctx.Err()
}

func (stuckCloud) Admit(ctx context.Context, _ providers.Run, _ string, _ int, _ []netip.Addr) error {
	<-ctx.Done()
	return ctx.Err()
}

func (stuckCloud) List(ctx context.Context, _ string, _ []string) ([]providers.Resource, error) {
	<-ctx.Done()
	return []providers.Resource{{ID: "i-1"}}, ctx.Err()
}

func (stuckCloud) Destroy(ctx context.Context, _ string, _ []string) error {
	<-ctx.Done()
	return ctx.Err()
}

// calls are all that waits, by name, as its error says.
func calls(ctx context.Context, c labCloud) map[string]error {
	_, launch := c.Launch(ctx, providers.Spec{})
	left, list := c.List(ctx, "r1", nil)
	if list == nil && len(left) > 0 {
		list = errors.New("something is left")
	}
	return map[string]error{"Launch": launch, "Admit": c.Admit(ctx, providers.Run{}, "north", 1, nil),
		"List": list, "Destroy": c.Destroy(ctx, "r1", nil)}
}

func TestLabCloudEndsWithLab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		done := make(chan map[string]error)
		go func() { done <- calls(t.Context(), labCloud{stuckCloud{}, ended}) }()
		synctest.Wait()
		close(ended)
		for call, err := range <-done {
			if nothingLeft := call == "List" || call == "Destroy"; (err == nil) != nothingLeft {
				t.Errorf("%s = %v, want an error only where something was wanted", call, err)
			}
		}
	})
}

func TestLabCloudKeepsErrorsOfLivingLab(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for call, err := range calls(ctx, labCloud{stuckCloud{}, make(chan struct{})}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s = %v, want %v", call, err, context.Canceled)
		}
	}
}
