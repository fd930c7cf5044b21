//go:build linux

package probe

import "testing"

// againTries is how often a busy computer may spoil what is measured.
const againTries = 6

// again measures until the result is right, which means that measure returns
// "", and says what was wrong with the last one otherwise. A computer that stands
// still in the middle of a test is a limit that the test's path does not have. So
// what may be wrong for that reason is returned, and what is wrong at any speed
// is an error of t at once.
func again(t *testing.T, measure func() (wrong string)) {
	t.Helper()
	for try := range againTries {
		wrong := measure()
		if wrong == "" || t.Failed() {
			return
		}
		t.Logf("try %d: %s", try, wrong)
		if try == againTries-1 {
			t.Error(wrong)
		}
	}
}
