package providertest

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// cut is the number of a launch's request at which something happens.
type cut int64

// lastCut is enough for clouds that don't say otherwise: see testLastCut.
const lastCut = 32

func (c Cloud) lastCut() int { return cmp.Or(c.LastCut, lastCut) }

func testLastCut(t *testing.T, c Cloud) {
	var requests atomic.Int64
	p, w := openedBy(t, c, func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			return next.RoundTrip(r)
		})
	})
	launch(t, p, c.spec(t, run("r1"), c.Regions[0]))
	if n := requests.Load(); n > int64(c.lastCut()) {
		t.Errorf("a launch makes %d requests: raise LastCut", n)
	} else {
		t.Logf("a launch makes %d requests", n)
	}
	destroyed(t, w, "r1", c.Regions[0])
}

// way runs act around the n-th request.
func (n cut) way(act func(next http.RoundTripper, r *http.Request) (*http.Response, error)) Way {
	var requests atomic.Int64
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if requests.Add(1) == int64(n) {
				return act(next, r)
			}
			return next.RoundTrip(r)
		})
	}
}

// testLaunchCancelled: wherever a launch is cut off, what it made is found by
// its marks. The request is carried out, its answer never seen.
func (n cut) testLaunchCancelled(t *testing.T, c Cloud) {
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	var cancelled time.Time
	p, w := openedBy(t, c, n.way(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		dropped(next.RoundTrip(r))
		cancelled = time.Now()
		cancel()
		return nil, context.Canceled
	}))
	_, err := p.Launch(ctx, c.spec(t, run("r1"), c.Regions[0]))
	if ctx.Err() != nil && err == nil {
		t.Errorf("Launch succeeded though it was cancelled")
	}
	if took := time.Since(cancelled); ctx.Err() != nil && took > time.Second {
		t.Errorf("Launch went on for %v after it was cancelled", took)
	}
	destroyed(t, w, "r1", c.Regions[0])
}

// testLaunchLosesAnswer: a request that was carried out is repeated, since its
// answer was lost; there must be one machine all the same.
func (n cut) testLaunchLosesAnswer(t *testing.T, c Cloud) {
	p, w := openedBy(t, c, n.way(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		dropped(next.RoundTrip(r))
		return nil, syscall.ECONNRESET
	}))
	launch(t, p, c.spec(t, run("r1"), c.Regions[0]))
	instances := 0
	for _, res := range listed(t, p, "r1", c.Regions[:]...) {
		if res.Kind == "instance" {
			instances++
		}
	}
	if instances != 1 {
		t.Errorf("%d instances, want 1", instances)
	}
	destroyed(t, w, "r1", c.Regions[:]...)
}

// testDestroyWhileLaunching: whatever a launch manages to make beside a
// Destroy, the next one finds it; the launch itself may fail or not, but ends.
func (n cut) testDestroyWhileLaunching(t *testing.T, c Cloud) {
	reached, done := make(chan struct{}), make(chan struct{})
	p, w := openedBy(t, c, n.way(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		close(reached)
		return next.RoundTrip(r)
	}))
	spec, ctx := c.spec(t, run("r1"), c.Regions[0]), testContext(t)
	go func() {
		defer close(done)
		_, _ = p.Launch(ctx, spec) // may fail or not
	}()
	select {
	case <-reached:
		_ = p.Destroy(ctx, "r1", c.Regions[:]) // may fail or not
	case <-done:
	}
	<-done
	destroyed(t, w, "r1", c.Regions[:]...)
}

// dropped is an answer on its way when the line breaks.
func dropped(resp *http.Response, err error) {
	if err == nil {
		resp.Body.Close()
	}
}
