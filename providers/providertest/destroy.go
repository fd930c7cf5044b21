package providertest

import (
	"sync"
	"testing"

	"github.com/antipode-bench/antipode/providers"
)

func testDestroyTwice(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	r := run("r1")
	launch(t, p, c.spec(t, r, c.Regions[0]))
	admit(t, p, r, c.Regions[0], peers(0, 40))
	destroyed(t, w, "r1", c.Regions[:]...)
	destroyed(t, w, "r1", c.Regions[:]...)
}

func testDestroyTwiceAtOnce(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	r := run("r1")
	launch(t, p, c.spec(t, r, c.Regions[0]))
	admit(t, p, r, c.Regions[0], peers(0, 3))
	ctx := testContext(t)
	var errs [2]error
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = p.Destroy(ctx, "r1", c.Regions[:]) })
	}
	wg.Wait()
	if errs[0] != nil || errs[1] != nil {
		t.Errorf("two Destroys at once: %v, %v", errs[0], errs[1])
	}
	destroyed(t, w, "r1", c.Regions[:]...)
}

func testDestroyUnknown(t *testing.T, c Cloud) {
	_, w := opened(t, c)
	destroyed(t, w, "never-was", c.Regions[:]...)
}

// An empty run id would match everybody's machines.
func testDestroyNeedsRun(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	launch(t, p, c.spec(t, run("r1"), c.Regions[0]))
	if err := p.Destroy(testContext(t), "", c.Regions[:]); err == nil {
		t.Errorf("Destroy without a run id succeeded")
	}
	if len(w.Left()) == 0 {
		t.Errorf("Destroy without a run id destroyed a run")
	}
	destroyed(t, w, "r1", c.Regions[0])
}

// The second run's id begins with the first's: a prefix is not enough.
func testRunsApart(t *testing.T, c Cloud) {
	p, w := opened(t, c)
	a, b := run("r1"), run("r1-b")
	ma := launch(t, p, c.spec(t, a, c.Regions[0]))
	mb := launch(t, p, c.spec(t, b, c.Regions[0]))
	admit(t, p, a, c.Regions[0], peers(0, 1))
	admit(t, p, b, c.Regions[0], peers(1, 1))
	wantIn(t, w, ma, true, peers(0, 1)...)
	wantIn(t, w, ma, false, peers(1, 1)...)
	wantIn(t, w, mb, false, peers(0, 1)...)
	if err := p.Destroy(testContext(t), a.ID, c.Regions[:]); err != nil {
		t.Errorf("Destroy of %s: %v", a.ID, err)
	}
	instances := 0
	for _, res := range listed(t, p, "", c.Regions[:]...) {
		if res.RunID != b.ID {
			t.Errorf("after Destroy of %s: %v", a.ID, res)
		}
		if res.Kind == providers.Instance {
			instances++
		}
	}
	if instances != 1 {
		t.Errorf("%d instances of %s are left, want 1", instances, b.ID)
	}
	wantIn(t, w, mb, true, peers(1, 1)...)
	destroyed(t, w, b.ID, c.Regions[:]...)
}
