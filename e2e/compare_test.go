package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/analysis"
)

// slowed are the pairs that the second world takes a fifth of the rate from.
func slowed() []string {
	return []string{"aws:us-east-1 gcp:us-east4", "gcp:europe-west1 aws:us-east-1", "gcp:us-east4 gcp:europe-west1"}
}

// TestCompareSweeps: of two sweeps with eight repetitions, the second in a world
// in which three of six pairs have lost a fifth of their rate, exactly these
// three are reported.
func TestCompareSweeps(t *testing.T) {
	u := self(t)
	upTo(t, 3, func(int) (wrong string) {
		// Side by side: what disturbs the one disturbs the other.
		first, second := startWorld(t, u, "before", 1), startWorld(t, u, "after", 0.8)
		before, after := first(), second()
		o := u.run(t, time.Minute, "compare", before, after, "--metric", "goodput", "--format", "json", "--fail-on-regression", "10%")
		var c analysis.Comparison
		if err := json.Unmarshal([]byte(o.stdout), &c); err != nil {
			t.Fatalf("%v: %s", err, o.stderr)
		}
		found := []string{}
		for _, p := range c.Metrics[0].Pairs {
			if p.Verdict == analysis.Regression || p.Verdict == analysis.Improvement {
				found = append(found, p.From+" "+p.To)
			}
		}
		slices.Sort(found)
		if diff := cmp.Diff(slowed(), found); diff != "" {
			return fmt.Sprintf("changes (-want +got):\n%s", diff)
		}
		if o.code != 6 {
			return fmt.Sprintf("exit code %d, want 6: %s", o.code, o.stderr)
		}
		return ""
	})
}

// startWorld begins a sweep of three regions; what it returns waits for its end
// and returns the run's folder.
func startWorld(t *testing.T, u user, name string, factor float64) func() string {
	t.Helper()
	world, out := filepath.Join(u.dir, name+".yaml"), filepath.Join(u.dir, name)
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	write(t, world, threeRegions(factor))
	s := u.start(t, "sweep", "--lab", "--lab-world", world, "--regions", "aws:us-east-1,gcp:us-east4,gcp:europe-west1",
		"--repeat", "8", "--duration", "1s", "--stop", "duration", "--rtt-probes", "20", "--rtt-interval", "5ms", "--yes", "--out", out)
	return func() string {
		t.Helper()
		s.wait(t, 5*time.Minute).want(t, 0, "0 failed, 0 skipped")
		return onlyFolder(t, out)
	}
}

// threeRegions is a world in which every way has a rate of its own.
func threeRegions(factor float64) string {
	ids := []string{"aws:us-east-1", "gcp:us-east4", "gcp:europe-west1"}
	var b strings.Builder
	b.WriteString("controller: {delay_ms: 0.5}\nregions:\n")
	for i, id := range ids {
		fmt.Fprintf(&b, "- {id: '%s', latitude: %d, longitude: 0, egress_bps: 400000000, ingress_bps: 400000000}\n", id, i)
	}
	b.WriteString("pairs:\n")
	for i, from := range ids {
		for j, to := range ids {
			if i == j {
				continue
			}
			rate := 1e6 * float64(10+2*i+j)
			if slices.Contains(slowed(), from+" "+to) {
				rate *= factor
			}
			fmt.Fprintf(&b, "- {from: '%s', to: '%s', delay_ms: 5, flow_bps: %.0f}\n", from, to, rate)
		}
	}
	return b.String()
}
