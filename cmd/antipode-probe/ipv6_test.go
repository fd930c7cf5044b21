//go:build linux

package main

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// TestByHandOverIPv6 has a namespace that has IPv6, whatever the computer's
// settings are, and its usual port free. Only what listens on all addresses asks
// for a secret.
func TestByHandOverIPv6(t *testing.T) {
	enterNamespace(t)
	servingAt(t, "[::1]:8462")
	checkByHand(t, "::1", "[::1]:8462")
	addr := servingAt(t, "[::1]:0")
	checkByHand(t, addr, addr)
	all, _ := strings.CutPrefix(servingAt(t, "[::]:0", "--insecure"), "[::]")
	for _, addr := range []string{"[::1]" + all, "127.0.0.1" + all} {
		checkByHand(t, addr, addr, "--insecure")
	}
}

// checkByHand measures all there is towards an address, which is the peer's.
func checkByHand(t *testing.T, addr, peer string, args ...string) {
	t.Helper()
	for _, what := range [][]string{
		{"--bytes", "1MB", "--dscp", "10"},
		{"--bytes", "1MB", "--reverse", "--streams", "2"},
		{"--bytes", "1MB", "--bidirectional"},
		{"--udp", "--bytes", "144800B", "--rate", "100M"},
		{"--udp", "--bytes", "144800B", "--rate", "100M", "--no-offload"},
	} {
		given := slices.Concat([]string{"test", addr, "--json", "--rtt-probes", "5"}, what, args)
		got := running(t, probeCommand(given...))
		if got.code != 0 {
			t.Errorf("%q: %+v", given, got)
			continue
		}
		r := decode(t, got.out)
		if r["peer"] != peer || r["status"] != "ok" || r["rtt_probes"] != 5. {
			t.Errorf("%q: %v", given, r)
		}
		if what[0] == "--udp" {
			if r["udp_received"] != 100. {
				t.Errorf("%q: %v of 100 datagrams", given, r["udp_received"])
			}
			continue
		}
		if bytes, is := r["bytes"].(float64); !is || bytes < 1e6 {
			t.Errorf("%q: %v bytes", given, r["bytes"])
		}
	}
}

// enterNamespace gives the test's thread, and the processes that it starts, a
// network namespace of their own. The thread ends with the test.
func enterNamespace(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("needs root")
		}
		t.Skip("needs root")
	}
	runtime.LockOSThread() // never unlocked: nobody else may have the thread
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		t.Fatal(err)
	}
}
