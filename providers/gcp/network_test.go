package gcp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// One launch's error must not become another's, which only waited for it to
// make what both need.
func TestTogetherErrorsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		denied := &providers.Error{Op: "subnetworks.insert", Cloud: Cloud, Region: oregon, Kind: providers.Auth, Err: errors.New("no")}
		first, fail := context.WithCancelCause(t.Context())
		var p Provider
		done := make(chan error, 1)
		go func() {
			done <- p.together(first, "rule", func() error {
				<-first.Done()
				return context.Cause(first)
			})
		}()
		synctest.Wait() // the first is at it
		time.AfterFunc(time.Second, func() { fail(denied) })
		turns := 0
		err := p.together(t.Context(), "rule", func() error { turns++; return nil })
		if err != nil || turns != 1 {
			t.Errorf("the second launch: %v after %d turns of its own, want one", err, turns)
		}
		if err := <-done; !errors.Is(err, denied) {
			t.Errorf("the first launch: %v, want %v", err, denied)
		}
	})
}
