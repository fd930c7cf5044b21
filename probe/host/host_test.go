//go:build linux

package host

import (
	"encoding/binary"
	"maps"
	"math"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/probe/trace"
)

func TestParseCPUs(t *testing.T) {
	two := "cpu  30 0 30 60 0 0 6 4 0 0\ncpu0 10 1 20 40 5 2 3 4 0 0\ncpu1 1 2 3 4 5 6 7 8\nintr 5\nctxt 7\n"
	for name, tt := range map[string]struct {
		text string
		want []cpuTimes
	}{
		"two":       {two, []cpuTimes{{36, 45, 5, 4}, {19, 9, 13, 8}}},
		"old":       {"cpu0 1 2 3 4 5 6 7\n", []cpuTimes{{19, 9, 13, 0}}},
		"too short": {"cpu0 1 2 3\n", nil},
		"negative":  {"cpu0 1 2 3 -4 5 6 7 8\n", nil},
		"empty":     {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parseCPUs([]byte(tt.text)), cmp.AllowUnexported(cpuTimes{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShares(t *testing.T) {
	before := []cpuTimes{{10, 10, 5, 0}, {0, 100, 0, 0}}
	after := []cpuTimes{{60, 40, 45, 20}, {0, 99, 0, 0}} // idle may run backwards
	busy, steal, interrupts := shares(before, after)
	if busy != .5 || steal != .2 || interrupts != .4 {
		t.Errorf("busy %v, steal %v, interrupts %v", busy, steal, interrupts)
	}
	if busy, _, _ := shares(before, after[:1]); busy != 0 {
		t.Errorf("a CPU went away: busy %v", busy)
	}
	if busy, _, _ := shares(before, before); busy != 0 {
		t.Errorf("no time went by: busy %v", busy)
	}
}

func TestParseSmall(t *testing.T) {
	if got := parseDrops([]byte("016a869d 0000000a 0000000c\n0164da3d 00000010 0\nx y\n\n")); got != 26 {
		t.Errorf("%d drops, want 26", got)
	}
	for text, want := range map[string]time.Duration{"100 2000 3\n": 2000, "": 0, "1": 0, "1 -5 0": 0, "1 x": 0} {
		if got := parseWaited([]byte(text)); got != want {
			t.Errorf("%q: waited %v, want %v", text, got, want)
		}
	}
}

// TestExceeded holds the names to those of Amazon's driver.
func TestExceeded(t *testing.T) {
	before := map[string]uint64{
		"bw_in_allowance_exceeded": 0, "bw_out_allowance_exceeded": 100, "pps_allowance_exceeded": 7,
		"conntrack_allowance_exceeded": 9, "linklocal_allowance_exceeded": 1, "conntrack_allowance_available": 500,
		"queue_0_tx_bytes": 1,
	}
	after := maps.Clone(before)
	after["bw_out_allowance_exceeded"] = 160
	after["linklocal_allowance_exceeded"] = 2
	after["conntrack_allowance_exceeded"] = 3 // the driver began anew
	after["conntrack_allowance_available"] = 400
	after["queue_0_tx_bytes"] = 99
	after["new_allowance_exceeded"] = 5 // since when?
	want := map[string]int64{"bw_out_allowance_exceeded": 60, "linklocal_allowance_exceeded": 1}
	if diff := cmp.Diff(want, exceeded(before, after)); diff != "" {
		t.Error(diff)
	}
	if got := exceeded(before, before); got != nil {
		t.Errorf("nothing happened: %v", got)
	}
	if n := conntrackAvailable(after); n == nil || *n != 400 {
		t.Errorf("conntrack available %v", n)
	}
	for _, card := range []map[string]uint64{nil, {conntrackAvailName: math.MaxUint64}} {
		if n := conntrackAvailable(card); n != nil {
			t.Errorf("%v: conntrack available %d", card, *n)
		}
	}
}

func TestUntil(t *testing.T) {
	began := time.Now()
	before := reading{at: began, cpus: []cpuTimes{{}}, ran: time.Second, drops: 5}
	after := reading{at: began.Add(2 * time.Second), cpus: []cpuTimes{{busy: 50, idle: 150}}, ran: 2 * time.Second, waited: time.Second, drops: 6}
	want := trace.Host{CPUs: 1, CPURatio: .25, OwnCPUs: .5, WaitingCPUs: .5, SoftnetDrops: 1}
	if diff := cmp.Diff(want, before.until(after, trace.Host{})); diff != "" {
		t.Error(diff)
	}
	if got := before.until(before, trace.Host{}); got.CPUs != 0 {
		t.Errorf("no time went by: %+v", got)
	}
}

func TestParseCountersRefuses(t *testing.T) {
	names := newMessage(namesHead+2*nameBytes, unix.ETHTOOL_GSTRINGS, statSet, 2)
	copy(names[namesHead:], "first")
	copy(names[namesHead+nameBytes:], "second")
	counts := newMessage(countsHead+16, unix.ETHTOOL_GSTATS, 2)
	binary.NativeEndian.PutUint64(counts[countsHead:], 7)
	binary.NativeEndian.PutUint64(counts[countsHead+8:], 8)
	got, err := parseCounters(names, counts)
	if diff := cmp.Diff(map[string]uint64{"first": 7, "second": 8}, got); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	for name, bad := range map[string][2][]byte{
		"other length":  {names, newMessage(countsHead+24, unix.ETHTOOL_GSTATS, 3)},
		"too long":      {newMessage(namesHead, 0, 0, 1<<20), newMessage(countsHead, 0, 1<<20)},
		"no head":       {nil, counts},
		"no count head": {names, nil},
	} {
		if got, err := parseCounters(bad[0], bad[1]); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestMachine reads this machine, in the middle of work.
func TestMachine(t *testing.T) {
	m := Start(netip.MustParseAddr("127.0.0.1"))
	for until := time.Now().Add(50 * time.Millisecond); time.Now().Before(until); {
	}
	h := m.Read()
	if h.Interface != "lo" || h.CPUs < 1 || h.OwnCPUs <= 0 || h.CPURatio < 0 || h.CPURatio > 1 {
		t.Errorf("%+v", h)
	}
	if got := Start(netip.MustParseAddr("192.0.2.1")).Read(); got.Interface != "" || got.NICDriver != "" {
		t.Errorf("nobody's address: %+v", got)
	}
}

// TestVeth asks a real driver: a veth pair has counts of its own.
func TestVeth(t *testing.T) {
	if os.Getuid() != 0 && os.Getenv("CI") != "true" {
		t.Skip("making namespaces needs root")
	}
	ended := make(chan struct{})
	go func() { // its thread and the namespace end with it
		defer close(ended)
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Error(err)
			return
		}
		attrs := netlink.NewLinkAttrs()
		attrs.Name = "pair0"
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "pair1"}); err != nil {
			t.Error(err)
			return
		}
		counts := readCounters("pair0")
		if got := readDriver("pair0"); got != "veth" || counts["peer_ifindex"] == 0 {
			t.Errorf("driver %q, counts %v", got, slices.Sorted(maps.Keys(counts)))
		}
		if got := readCounters("lo"); got != nil {
			t.Errorf("lo counts %v", got)
		}
		if err := ask(0, "a-name-that-is-much-too-long", newMessage(8)); err == nil {
			t.Error("took an impossible name")
		}
	}()
	<-ended
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("cpu0 1 2 3 4 5 6 7 8\n"))
	f.Add([]byte("016a869d 0000000a\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		shares(parseCPUs(b), parseCPUs(b))
		if parseDrops(b) < 0 || parseWaited(b) < 0 {
			t.Error("negative")
		}
		parseCounters(b, b)
	})
}
