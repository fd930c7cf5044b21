//go:build linux && accuracy

package router

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/world"
)

// These tests say how good the router is on this computer. They take minutes
// and mean something on a quiet one only, so they hide behind a build tag:
//
//	go test -tags accuracy -run Accuracy -v ./lab/router
const (
	accuracyMachines = 46
	accuracyProbes   = 30
	accuracyPairs    = 40
)

// planet is a calibrated internet with a machine in each of 46 regions of the
// default world.
func planet(t *testing.T, kind link.Kind) (*internet, *world.World, []*machine) {
	t.Helper()
	c, err := Calibrate(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", c)
	w := world.Default(antipode.Regions()[:accuracyMachines])
	inet := newInternet(t, kind, w, c.Cost)
	var machines []*machine
	for _, r := range w.Regions {
		machines = append(machines, inet.machine(t, r.ID))
	}
	return inet, w, machines
}

func TestAccuracyOfRoundTrips(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		_, w, machines := planet(t, kind)
		for _, m := range machines {
			go echo(m.listenUDP(t, 7))
		}
		var p50, p99 []time.Duration
		for i := range accuracyPairs {
			from := i % accuracyMachines
			to := (from + 1 + i*i%(accuracyMachines-1)) % accuracyMachines
			want := milliseconds(w.Path(w.Regions[from].ID, w.Regions[to].ID).DelayMs) * 2
			times := pipelined(t, machines[from], machines[to].at(7))
			p50 = append(p50, times[len(times)/2]-want)
			p99 = append(p99, times[len(times)*99/100]-want)
			if off := p50[i]; off.Abs() > max(time.Millisecond, want/100) {
				t.Errorf("RTT %s is %s off", want, off)
			}
		}
		slices.Sort(p50)
		slices.Sort(p99)
		t.Logf("off by, p50 of %d probes: min %s, median %s, max %s of %d pairs; p99: median %s",
			accuracyProbes, p50[0], p50[len(p50)/2], p50[len(p50)-1], len(p50), p99[len(p99)/2])
	})
}

// pipelined sends probes 10 ms apart and returns their round trips by the
// sender's clock, shortest first.
func pipelined(t *testing.T, from *machine, to netip.AddrPort) []time.Duration {
	t.Helper()
	c := from.listenUDP(t, 0)
	defer c.Close()
	start := time.Now()
	go func() {
		for range accuracyProbes {
			var b [8]byte
			binary.BigEndian.PutUint64(b[:], uint64(time.Since(start)))
			c.WriteToUDPAddrPort(b[:], to)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var times []time.Duration
	for range accuracyProbes {
		var b [8]byte
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := c.Read(b[:]); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start)-time.Duration(binary.BigEndian.Uint64(b[:])))
	}
	slices.Sort(times)
	return times
}

func TestAccuracyOfGoodput(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		for _, c := range []struct {
			path, congestion string
			machineBps, bps  float64
		}{
			{"delay_ms: 1", "cubic", 160e6, 160e6}, {"delay_ms: 1", "bbr", 160e6, 160e6},
			{"delay_ms: 20, flow_bps: 100e6", "cubic", 160e6, 100e6}, {"delay_ms: 20, flow_bps: 100e6", "bbr", 160e6, 100e6},
			{"delay_ms: 50, flow_bps: 40e6", "cubic", 160e6, 40e6}, {"delay_ms: 50, flow_bps: 40e6", "bbr", 160e6, 40e6},
			{"delay_ms: 150, flow_bps: 13e6", "cubic", 160e6, 13e6}, {"delay_ms: 150, flow_bps: 13e6", "bbr", 160e6, 13e6},
		} {
			t.Run(c.path+" "+c.congestion, func(t *testing.T) {
				inet := newInternet(t, kind, flat(t, c.machineBps, c.path), Cost{})
				got := goodput(t, inet.machine(t, "lab:a"), inet.machine(t, "lab:b"), c.congestion, 6*time.Second, 10*time.Second)
				t.Logf("%.2f %% off; %+v", 100*(got/(c.bps*1448/1500)-1), inet.Counts()[0])
			})
		}
	})
}

// TestAccuracyOfManyFlows runs a flow out of and into each of 12 machines at once.
func TestAccuracyOfManyFlows(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		inet, w, machines := planet(t, kind)
		truth := make(map[[2]string]float64)
		for _, row := range w.Truth(nil, world.Test{}) {
			truth[[2]string{row.FromCloud + ":" + row.FromRegion, row.ToCloud + ":" + row.ToRegion}] = row.GoodputBps
		}
		var running sync.WaitGroup
		before := cpu(t)
		start := time.Now()
		for i := range 12 {
			from, to := i, (i+1)%12
			running.Go(func() {
				got := goodput(t, machines[from], machines[to], "cubic", 5*time.Second, 5*time.Second)
				want := truth[[2]string{w.Regions[from].ID, w.Regions[to].ID}]
				t.Logf("%s to %s: %.1f Mbit/s, %.2f %% off", w.Regions[from].ID, w.Regions[to].ID, want/1e6, 100*(got/want-1))
			})
		}
		running.Wait()
		t.Logf("CPU %.0f %%; %+v", 100*(cpu(t)-before).Seconds()/time.Since(start).Seconds(), inet.Counts())
	})
}

func TestAccuracyIdle(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		_, _, machines := planet(t, kind)
		time.Sleep(3 * time.Second) // the kernel's own chatter on new devices
		before := cpu(t)
		time.Sleep(5 * time.Second)
		t.Logf("%d idle machines: %.3f %% of a CPU", len(machines), 100*(cpu(t)-before).Seconds()/5)
	})
}

// cpu is the time the process has used.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
