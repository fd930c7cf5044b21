//go:build linux

package probe

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/antipode-bench/antipode/probe/trace"
	"github.com/antipode-bench/antipode/probe/wire"
)

// record keeps what the probe saw, for the tests of package trace.
var record = flag.String("record", "", "`folder` to keep the samples of TestCPULimits in")

// TestCPULimits has a cable of no rate and no delay between two machines: how
// fast one sends and the other takes is all that there is, whatever else this
// computer does meanwhile.
func TestCPULimits(t *testing.T) {
	needRoot(t)
	const tries = 5
	from, to := startProcess(t, true), startProcess(t, true)
	plug(t, from.cmd.Process.Pid, to.cmd.Process.Pid)
	from.serve()
	peer := wire.Peer{Addr: "10.99.0.2", Port: to.serve()}
	for _, congestion := range []string{"cubic", "bbr"} {
		for _, streams := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s %d", congestion, streams), func(t *testing.T) {
				req := wire.Throughput{Peer: peer, DurationMs: 1000, Streams: streams, CongestionControl: congestion, DeadlineMs: 20_000, SampleMs: 10}
				for range tries {
					r := await(t, from.ask(wire.Request{Throughput: &req}))
					if r.Error != "" {
						t.Fatal(r.Error)
					}
					got := r.Throughput
					t.Logf("%.1f Gbit/s, %s: %s; sender %+v, receiver %+v", got.GoodputBps/1e9, got.LimitedBy, got.LimitedByEvidence, *got.From, *got.To)
					keepRecord(t, got)
					if got.LimitedBy == trace.LimitCPU {
						return
					}
				}
				t.Errorf("want %s", trace.LimitCPU)
			})
		}
	}
}

// plug puts a cable between the namespaces of two processes.
func plug(t *testing.T, from, to int) {
	t.Helper()
	a, err := netns.GetFromPid(from)
	must(t, err)
	defer a.Close()
	b, err := netns.GetFromPid(to)
	must(t, err)
	defer b.Close()
	inside, err := netlink.NewHandleAt(a)
	must(t, err)
	defer inside.Close()
	must(t, inside.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "path0"}, PeerName: "path0", PeerNamespace: netlink.NsFd(b)}))
	for i, ns := range []netns.NsHandle{a, b} {
		end, err := netlink.NewHandleAt(ns)
		must(t, err)
		link, err := end.LinkByName("path0")
		must(t, err)
		must(t, end.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(10, 99, 0, byte(i+1)), Mask: net.CIDRMask(24, 32)}}))
		must(t, end.LinkSetUp(link))
		end.Close()
	}
}

func keepRecord(t *testing.T, r *wire.ThroughputResult) {
	t.Helper()
	if *record == "" {
		return
	}
	b, err := json.Marshal(r)
	must(t, err)
	name := fmt.Sprintf("%s-%d-%d.json", r.CongestionControl, r.Streams, time.Now().UnixMilli())
	must(t, os.WriteFile(filepath.Join(*record, name), append(b, '\n'), 0o644))
}
