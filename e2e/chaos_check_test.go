//go:build chaos

package e2e

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestChaosNotices strikes each mutant when it matters, and wants the kill test to fail.
func TestChaosNotices(t *testing.T) {
	for name, m := range chaosMutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := self(t)
			u.binary = mutate(t, m.file, m.from, m.to)
			// Nothing else is in the lab. What is not found keeps others from being
			// deleted: there is no use in waiting for that.
			c := &chaos{user: u, lab: u.upMixedLab(t), patience: 30 * time.Second}
			out := filepath.Join(u.dir, "out")
			s := c.sweep(t, out)
			m.when(t, c, s)
			v := c.kill(t, s, out)
			wrong := c.goOn(t, v, m.resume)
			left := c.inventory(t).left()
			if len(wrong) == 0 || !slices.ContainsFunc(left, func(i item) bool { return i.Cloud == m.left.Cloud && i.Kind == m.left.Kind }) {
				t.Fatalf("killed %s, and the kill test does not notice: %q; left: %+v", v.phase, wrong, left)
			}
			say("chaos: %s, killed %s: noticed, %d resources are left", name, v.phase, len(left))
		})
	}
}
