package trace

import (
	"fmt"
	"strings"
)

// busyCPUs is how much of what its threads can use at all an end is busy with
// when the CPU is its limit.
const (
	busyCPUs = .85
	// starvedCPUs is the same when others leave the threads too little: how much
	// they ran or waited for a CPU, of which they ran half at least.
	starvedCPUs = .95
	busyIRQ     = .9
)

// busyHost looks at the probe's own threads and at interrupts, not at the whole
// machine: others may use the rest of it.
func busyHost(v *view) (string, bool) {
	return v.eachEnd(func(h *Host) string { return h.busy(v.Streams) })
}

// eachEnd joins what is to be said of the two machines.
func (v *view) eachEnd(say func(*Host) string) (string, bool) {
	var found []string
	for _, end := range []struct {
		name string
		*Host
	}{{"sender", v.From}, {"receiver", v.To}} {
		if h := end.Host; h != nil {
			if text := say(h); text != "" {
				found = append(found, end.name+": "+text)
			}
		}
	}
	return strings.Join(found, "; "), len(found) > 0
}

// busy says what an end's CPUs are busy with, if they are its limit.
func (h *Host) busy(streams int) string {
	usable, runs, waits := h.use(streams)
	left := h.left()
	switch {
	case runs >= busyCPUs*left:
		return fmt.Sprintf("own threads ran %.0f %% of the time of %.0f CPUs, %.0f %% stolen", 100*runs, usable, 100*h.StealRatio)
	case runs+waits >= starvedCPUs*left && runs >= waits:
		return fmt.Sprintf("own threads ran %.0f %% of the time of %.0f CPUs and waited for one %.0f %%, %.0f %% stolen",
			100*runs, usable, 100*waits, 100*h.StealRatio)
	case h.SoftIRQRatio >= busyIRQ:
		return fmt.Sprintf("interrupts took %.0f %% of one CPU", 100*h.SoftIRQRatio)
	}
	return ""
}

// use is how many CPUs the threads can use at all, and the shares of their time
// that they ran and waited for one.
func (h *Host) use(streams int) (usable, runs, waits float64) {
	usable = float64(max(1, min(streams, h.CPUs)))
	return usable, h.OwnCPUs / usable, h.WaitingCPUs / usable
}

// left is the share of the time that the hypervisor did not take away.
func (h *Host) left() float64 { return max(.01, 1-h.StealRatio) }

// starved says how an end's threads ran, or could have but for interrupts and
// for what else had the CPUs, all the time; empty if they did not. That alone
// makes no limit: on a busy computer threads wait that have next to nothing to
// do.
func (h *Host) starved(streams int) string {
	usable, runs, waits := h.use(streams)
	if runs+waits+h.SoftIRQRatio < starvedCPUs*h.left() {
		return ""
	}
	return fmt.Sprintf("own threads ran %.0f %% of the time of %.0f CPUs and waited for one %.0f %%, beside %.0f %% of interrupts",
		100*runs, usable, 100*waits, 100*h.SoftIRQRatio)
}

// idleForWantOfCPU: the kernel has nothing to send because the program that
// should hand it over gets no CPU.
func idleForWantOfCPU(v *view) (string, bool) {
	idle, holds := nothingToSend(v)
	if !holds || v.RateBps > 0 {
		return "", false
	}
	who, starved := v.eachEnd(func(h *Host) string { return h.starved(v.Streams) })
	return who + "; " + idle, starved
}

const (
	// A rate is not that of a path, which is even, if an end ran for more than
	// runsMuch; under BBR, which paces, if it ran for more than runsSome.
	unevenBusy  = .9
	runsMuch    = .25
	unevenPaced = .7
	runsSome    = .05
)

// unevenForWantOfCPU: what a path lets pass comes evenly, above all under BBR,
// but machines that wait for a CPU send in fits and starts. On lab paths on a
// computer with ten times too much to do, BBR's evenness was .75 and more with a
// cap, and mostly less than half with none.
func unevenForWantOfCPU(v *view) (string, bool) {
	if v.RateBps > 0 {
		return "", false // its pace is its own
	}
	who, starved := v.eachEnd(func(h *Host) string {
		_, runs, _ := h.use(v.Streams)
		if runs >= runsMuch && v.evenness < unevenBusy || v.bbr() && runs >= runsSome && v.evenness < unevenPaced {
			return h.starved(v.Streams)
		}
		return ""
	})
	return fmt.Sprintf("%s; the median rate is %.0f %% of the 95th percentile", who, 100*v.evenness), starved
}
