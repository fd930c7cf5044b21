//go:build chaos

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestChaosNotices takes out of the code, one at a time, what nothing could be
// found again without, strikes when it matters, and wants the kill test to fail.
func TestChaosNotices(t *testing.T) {
	for name, mutant := range map[string]struct {
		file, from, to string
		when           func(*testing.T, *chaos, *started)
		resume         bool
		left           string // what must be among what the test finds
	}{
		"no record before the create": {
			"orchestrator/machine.go",
			"if err := must(m.fleet.journal.write(intent)); err != nil {\n\t\treturn err\n\t}", "_ = intent",
			// When every pair has a row, only the record tells where to tear down.
			func(t *testing.T, _ *chaos, s *started) { s.waitFor(t, "tearing down", time.Minute) }, true, "Kind:security-group",
		},
		"no tags on EC2 instances": {
			"providers/aws/launch.go",
			"TagSpecifications: tagged(spec.Run, types.ResourceTypeInstance, ", "TagSpecifications: tagged(spec.Run, ", created("aws"), false, "Cloud:aws Kind:instance",
		},
		"no labels on GCE instances": {
			"providers/gcp/instance.go",
			"Labels:      labels(spec.Run),\n\t\tTags:", "Tags:", created("gcp"), false, "Cloud:gcp Kind:instance",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := self(t)
			u.binary = mutate(t, mutant.file, mutant.from, mutant.to)
			// Nothing else is in the lab. What is not found keeps others from being
			// deleted: there is no use in waiting for that.
			c := &chaos{user: u, lab: u.upLab(t), patience: 30 * time.Second}
			out := filepath.Join(u.dir, "out")
			s := c.sweep(t, out)
			mutant.when(t, c, s)
			v := c.kill(t, s, out)
			wrong := c.goOn(t, v, mutant.resume)
			left := strings.Join(c.left(t, ""), "\n")
			if !strings.Contains(left, mutant.left) {
				t.Fatalf("killed %s, and the kill test does not notice; left: %s; wrong: %q", v.phase, left, wrong)
			}
			say("chaos: %s, killed %s: noticed, %d resources are left", name, v.phase, 1+strings.Count(left, "\n"))
		})
	}
}

// created waits until the lab has a cloud's two instances.
func created(cloud string) func(*testing.T, *chaos, *started) {
	return func(t *testing.T, c *chaos, _ *started) {
		t.Helper()
		eventually(t, time.Minute, "instances of "+cloud, func() bool {
			n := 0
			for _, i := range c.inventory(t).left() {
				if i.Cloud == cloud && i.Kind == "instance" {
					n++
				}
			}
			return n == 2
		})
	}
}
