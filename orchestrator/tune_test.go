package orchestrator

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// TestRunTuned: rows and manifest say what the machines were tuned to; one that
// can't be is measured as it is.
func TestRunTuned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		cfg := p.config(3)
		cfg.Tune = true
		stubborn := cfg.Pairs[0].From
		p.faults[stubborn.ID()] = fault{tune: errors.New("a password is required")}
		d := p.run(t.Context(), cfg)
		if d.err != nil || d.counts() != [3]int{6, 0, 0} {
			t.Fatalf("Run = %+v, %v", d.Summary, d.err)
		}
		want := map[bool]string{false: "net.ipv4.tcp_rmem=4096,131072,134217728"}
		for _, r := range d.rows {
			from, to := r.FromRegion == stubborn.Name, r.ToRegion == stubborn.Name
			if r.FromTuned != want[from] || r.ToTuned != want[to] {
				t.Errorf("%s to %s: tuned %q, %q", r.FromRegion, r.ToRegion, r.FromTuned, r.ToTuned)
			}
		}
		data, err := os.ReadFile(filepath.Join(p.dir, manifestFile))
		var m Manifest
		if err = errors.Join(err, json.Unmarshal(data, &m)); err != nil || !m.Tune {
			t.Fatalf("tune %v, %v", m.Tune, err)
		}
		for _, r := range m.Regions {
			if r.Region == stubborn.Name != (r.Settings == nil) {
				t.Errorf("%s: %+v", r.Region, r.Settings)
			}
			if r.Settings != nil {
				if diff := cmp.Diff(tunedTo, r.Settings); diff != "" {
					t.Errorf("%s (-want +got):\n%s", r.Region, diff)
				}
			}
		}
	})
}

// TestRunUntuned: nobody is tuned who did not ask for it.
func TestRunUntuned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlanet(t)
		d := p.run(t.Context(), p.config(2))
		for _, r := range d.rows {
			if r.FromTuned+r.ToTuned != "" {
				t.Errorf("%+v", r)
			}
		}
		if p.tunings != 0 {
			t.Errorf("tuned %d times", p.tunings)
		}
	})
}
