package providertest

import (
	"testing"
	"time"

	"github.com/antipode-bench/antipode/providers"
)

// SecondBest launches where there is no room for what spec asks for first. The
// machine must be of the type and in the zone, and a launch that adopts must find
// it, though the first choice has room again. running lists the cloud's machines.
func SecondBest(t *testing.T, p providers.Provider, spec providers.Spec, machineType, zone string, running func() []string) {
	t.Helper()
	first, err := p.Launch(t.Context(), spec)
	if err != nil || first.Type != machineType || first.Zone != zone {
		t.Fatalf("Launch = %s in %s, %v; want %s in %s", first.Type, first.Zone, err, machineType, zone)
	}
	spec.Adopt = true
	if second, err := p.Launch(t.Context(), spec); err != nil || second != first {
		t.Errorf("Launch again = %+v, %v; want %+v", second, err, first)
	}
	if ids := running(); len(ids) != 1 {
		t.Errorf("running: %v; want one", ids)
	}
}

// PreflightEnds asks a provider whose cloud does not answer: it must end in time,
// and hold nothing against any region.
func PreflightEnds(t *testing.T, p providers.Provider, w providers.Wanted) {
	t.Helper()
	began := time.Now()
	got := providers.Ask(t.Context(), p, w)
	if took := time.Since(began); took > providers.PreflightLimit {
		t.Errorf("took %v", took)
	}
	if len(got.Regions) != len(w.Regions) {
		t.Errorf("%d regions answered for, want %d", len(got.Regions), len(w.Regions))
	}
	for _, r := range got.Regions {
		if worst := providers.Worst(r.Findings); worst.Verdict != providers.VerdictWarn {
			t.Errorf("%s: %v, want a warning", r.Region, r.Findings)
		}
	}
}
