//go:build linux

package probe

import (
	"testing"
	"time"
)

func TestUDPReceiverAsksForABreather(t *testing.T) {
	began := time.Now()
	r := &udpReceiver{began: began, behind: make(chan struct{}, 1)}
	now := began.Add(time.Second)
	for _, step := range []struct {
		name         string
		after        time.Duration // now
		waited, want time.Duration // in the socket; when it came
		warns        bool
	}{
		{"in time", 0, longWait / 2, time.Second - longWait/2, false},
		{"late", 0, 2 * longWait, time.Second - 2*longWait, true},
		{"late again, at once", 0, 2 * longWait, time.Second - 2*longWait, false},
		{"late again", breather, 2 * longWait, time.Second + breather - 2*longWait, true},
		{"clock set forward", time.Second, time.Hour, 2 * time.Second, false},
		{"clock set back", time.Second, -time.Hour, 2 * time.Second, false},
	} {
		at := now.Add(step.after)
		if got := r.moment(at, at.Add(-step.waited)); got != step.want {
			t.Errorf("%s: it came after %v, want %v", step.name, got, step.want)
		}
		if warned := len(r.behind) > 0; warned != step.warns {
			t.Errorf("%s: warns %v, want %v", step.name, warned, step.warns)
		}
		select {
		case <-r.behind:
		default:
		}
	}
}
