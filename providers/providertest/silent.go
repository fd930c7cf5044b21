package providertest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// method is one of a provider's, as far as it can fail.
type method struct {
	name string
	call func(context.Context, Cloud, providers.Provider, providers.Spec) error
}

var methods = []method{
	{"Launch", func(ctx context.Context, _ Cloud, p providers.Provider, s providers.Spec) error {
		_, err := p.Launch(ctx, s)
		return err
	}},
	{"Admit", func(ctx context.Context, _ Cloud, p providers.Provider, s providers.Spec) error {
		return p.Admit(ctx, s.Run, s.Region, probePort, peers(0, 1))
	}},
	{"List", func(ctx context.Context, c Cloud, p providers.Provider, s providers.Spec) error {
		_, err := p.List(ctx, s.Run.ID, c.Regions[:])
		return err
	}},
	{"Destroy", func(ctx context.Context, c Cloud, p providers.Provider, s providers.Spec) error {
		return p.Destroy(ctx, s.Run.ID, c.Regions[:])
	}},
}

// silence takes requests and never says anything.
var silence = roundTripper(func(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
})

func (m method) testSilent(t *testing.T, c Cloud) {
	p := c.At(t, silence, 30*time.Second)
	start := time.Now()
	err := m.call(testContext(t), c, p, c.spec(t, run("r1"), c.Regions[0]))
	c.wantError(t, err, providers.Timeout)
	if err != nil && !strings.Contains(err.Error(), "no answer within 30s") {
		t.Errorf("err = %v, want it to say how long nobody answered", err)
	}
	if took := time.Since(start); took > 3*time.Minute {
		t.Errorf("took %v", took)
	}
}

func (m method) testSilentCancelled(t *testing.T, c Cloud) {
	p := c.At(t, silence, 30*time.Second)
	ctx, cancel := context.WithTimeout(testContext(t), time.Second)
	defer cancel()
	start := time.Now()
	if err := m.call(ctx, c, p, c.spec(t, run("r1"), c.Regions[0])); err == nil {
		t.Errorf("no error")
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v after 1 s was given", took)
	}
}

func testClosedEndpoint(t *testing.T, c Cloud) {
	closed := roundTripper(func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED })
	_, err := c.At(t, closed, time.Second).List(testContext(t), "r1", c.Regions[:1])
	c.wantError(t, err, providers.Temporary)
}

// wantError checks that err says where it happened and what to do.
func (c Cloud) wantError(t *testing.T, err error, kind providers.Kind) {
	t.Helper()
	e, ok := errors.AsType[*providers.Error](err)
	if !ok {
		t.Fatalf("err = %v, want a *providers.Error", err)
	}
	if e.Kind != kind || e.Cloud != c.Name || e.Op == "" {
		t.Errorf("err = %v, of kind %s, cloud %q, op %q; want kind %s", err, e.Kind, e.Cloud, e.Op, kind)
	}
}
