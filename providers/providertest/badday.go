package providertest

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/antipode-bench/antipode/providers"
)

// BadDay is a launch while something goes wrong.
type BadDay struct {
	Open func(*testing.T) World // where it goes wrong
	Want providers.Kind         // of the launch's error; empty: it succeeds
	Zone string                 // where the machine comes to stand; empty: anywhere
	Says string                 // the error, among other things
}

// BadDays checks how launches end, and that nothing is left of any.
func (c Cloud) BadDays(t *testing.T, days map[string]BadDay) {
	for name, day := range days {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { day.test(t, c) })
		})
	}
}

func (d BadDay) test(t *testing.T, c Cloud) {
	w, spec := d.Open(t), c.spec(t, run("r1"), c.Regions[0])
	m, err := w.Provider.Launch(testContext(t), spec)
	if (err == nil) != (d.Want == "") || err != nil && providers.KindOf(err) != d.Want {
		t.Errorf("Launch: %v of kind %s, want kind %q", err, providers.KindOf(err), d.Want)
	}
	if err != nil && !strings.Contains(err.Error(), d.Says) {
		t.Errorf("Launch: %v; does not say %q", err, d.Says)
	}
	if d.Zone != "" && m.Zone != d.Zone {
		t.Errorf("zone = %s, want %s", m.Zone, d.Zone)
	}
	// What can't be used can't be emptied either.
	if err := w.Provider.Destroy(testContext(t), spec.Run.ID, c.Regions[:1]); err != nil && d.Want != providers.Skip {
		t.Errorf("Destroy: %v", err)
	}
	if left := w.Left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
