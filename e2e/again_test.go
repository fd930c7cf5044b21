package e2e

import "testing"

const (
	// slack is how many times longer than it says a limit is. Limits say what is
	// long on a quiet computer, and nobody waits for them where all is well.
	slack = 5
	// againTries is how often a busy computer may spoil what is measured.
	againTries = 3
)

// again measures until the result is right, which means that measure returns
// "", and says what was wrong with the last one otherwise. It is told how often
// it was called before, so that it can give a slow computer more time. What may
// be wrong because the computer is busy is returned, and what is wrong on any
// computer is an error of t at once.
func again(t *testing.T, measure func(try int) (wrong string)) {
	t.Helper()
	upTo(t, againTries, measure)
}

// upTo is again with another number of tries.
func upTo(t *testing.T, tries int, measure func(try int) (wrong string)) {
	t.Helper()
	for try := range tries {
		wrong := measure(try)
		if wrong == "" || t.Failed() {
			return
		}
		t.Logf("try %d: %s", try, wrong)
		if try == tries-1 {
			t.Error(wrong)
		}
	}
}
