package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// TestChoices: a sweep with every wish that shapes a number says in its rows
// what became of it, and the lab carries private addresses within one network.
func TestChoices(t *testing.T) {
	t.Parallel()
	u := self(t)
	o := u.run(t, 2*time.Minute, "sweep", "--lab", "--yes", "--regions", "gcp:us-west1,gcp:europe-west1,aws:eu-west-1",
		"--path", "private", "--network-tier", "standard", "--spot", "--tag", "team=net", "--duration", "1s", "--rtt-probes", "10",
		"--machine-type", "gcp=n2-standard-2,e2-small", "--zone", "us-west1=us-west1-c")
	o.want(t, 0, "6 pairs: 2 ok, 0 failed, 4 skipped", "nothing is left")
	for _, r := range readRows(t, u.runFolder(t)) {
		switch {
		case r.FromCloud != r.ToCloud:
			if r.Status != results.StatusSkipped || !strings.Contains(r.Error, "no private path") {
				t.Errorf("%s>%s is %s: %s", r.FromRegion, r.ToRegion, r.Status, r.Error)
			}
		case r.Status != results.StatusOK || r.Path != "private" || r.NetworkTier != "" || r.FromMachine != "n2-standard-2" || !r.HasFlag(results.FlagSpot):
			t.Errorf("row %+v", r)
		}
		if r.Status == results.StatusOK && r.FromRegion == "us-west1" && r.FromZone != "us-west1-c" {
			t.Errorf("us-west1 was measured in %s", r.FromZone)
		}
	}
}
