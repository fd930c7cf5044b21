package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDoctor: a table with what is in the way, the exit code that says so, and
// no trace of a run.
func TestDoctor(t *testing.T) {
	t.Parallel()
	u := self(t)
	faults := filepath.Join(u.dir, "faults.yaml")
	write(t, faults, "opted_out: [eu-central-1]\nquotas:\n- {cloud: gcp, region: us-west1, quota: CPUS, limit: 1}\n")
	u.run(t, time.Minute, "doctor", "--lab", "--lab-faults", faults, "--regions", three).want(t, 5,
		"aws: account", "aws:us-east-1     go", "enable-region --region-name eu-central-1", "quota CPUS: 0 of 1 used", "2 of 3 regions can't take part")
	if _, err := os.Stat(filepath.Join(u.dir, "runs")); err == nil {
		t.Error("doctor left a folder of runs")
	}
}
