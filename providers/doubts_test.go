package providers

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestDoubts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d Doubts
		if at := d.Settled("r1"); !at.IsZero() {
			t.Errorf("without a doubt settled at %v, want at once", at)
		}
		d.Note("r1")
		time.Sleep(time.Second)
		d.Note("r1")
		if got := time.Until(d.Settled("r1")); got != ListLag {
			t.Errorf("settled in %v, want %v after the latest", got, ListLag)
		}
		if at := d.Settled("r2"); !at.IsZero() {
			t.Errorf("another run is settled at %v, want at once", at)
		}
	})
}
