//go:build linux

package router

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/router/packet"
)

// received is what a receiver makes of numbered datagrams.
type received struct {
	arrived, duplicated, reordered int64

	seen map[uint64]bool
	next uint64
}

func (r *received) take(n uint64) {
	switch {
	case r.seen[n]:
		r.duplicated++
		return
	case n < r.next:
		r.reordered++
	default:
		r.next = n + 1
	}
	r.seen[n] = true
	r.arrived++
}

// flowTo finds the count of the one flow to a port; the zero count before there
// is one.
func flowTo(inet *internet, port uint16) FlowCount {
	for _, f := range inet.FlowCounts() {
		if f.Dst.Port() == port {
			return f
		}
	}
	return FlowCount{}
}

func TestFlowCountsAreTheReceivers(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		inet := newInternet(t, kind, flat(t, 0,
			"delay_ms: 1, loss_ratio: 0.05, loss_burst: 3, reorder_ratio: 0.1, reorder_ms: 1, duplicate_ratio: 0.1"), Cost{})
		a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		to, from := b.listenUDP(t, 7), a.listenUDP(t, 1000)
		got := received{seen: map[uint64]bool{}}
		const sent = 2000
		var read, delivered int64
		for n := range uint64(sent) {
			if _, err := from.WriteToUDPAddrPort(binary.BigEndian.AppendUint64(nil, n), b.at(7)); err != nil {
				t.Fatal(err)
			}
			if n%100 < 99 {
				continue // fewer than any queue on the way holds
			}
			eventually(t, func() bool {
				c := slices.Concat(inet.Counts(), []PairCount{{}})[0]
				delivered = c.Delivered.Packets
				return delivered+c.Dropped.Loss == int64(n+1)+c.Copied
			})
			for ; read < delivered; read++ {
				datagram := make([]byte, 100)
				to.SetReadDeadline(time.Now().Add(patience))
				if _, err := to.Read(datagram); err != nil {
					t.Fatal(err)
				}
				got.take(binary.BigEndian.Uint64(datagram))
			}
		}
		flow := flowTo(inet, 7)
		want := received{arrived: sent - flow.Lost(), duplicated: flow.Duplicated, reordered: flow.Reordered}
		got.seen, got.next = nil, 0
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(received{})); diff != "" || flow.Sent != sent {
			t.Errorf("the router counted %+v, the receiver (-want +got):\n%s", flow, diff)
		}
		if flow.Lost() == 0 || flow.Duplicated == 0 || flow.Reordered == 0 {
			t.Errorf("nothing of a kind happened: %+v", flow)
		}
	})
}

func TestPayloadIsCountedOnce(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		inet := newInternet(t, kind, flat(t, 100e6,
			"delay_ms: 1, loss_ratio: 0.01, reorder_ratio: 0.01, reorder_ms: 1, duplicate_ratio: 0.01"), Cost{})
		a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		out, in := connect(t, a, b, "cubic")
		const size = 2 << 20
		go io.CopyN(out, endless{}, size)
		if _, err := io.CopyN(io.Discard, in, size); err != nil {
			t.Fatal(err)
		}
		flow := flowTo(inet, in.LocalAddr().(*net.TCPAddr).AddrPort().Port())
		if flow.PayloadBytes != size || flow.Delivered.PayloadBytes <= size {
			t.Errorf("%d of %d bytes counted, %d with repeats", flow.PayloadBytes, size, flow.Delivered.PayloadBytes)
		}
	})
}

func TestSmallMTU(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		ipv6   bool
		passes bool
	}{
		"told":                          {"delay_ms: 1, mtu_bytes: 1000, mtu_icmp: true", false, true},
		"in secret":                     {"delay_ms: 1, mtu_bytes: 1000", false, false},
		"told over IPv6":                {"delay_ms: 1, mtu_bytes: 1400, mtu_icmp: true", true, true},
		"told over IPv6, less than its": {"delay_ms: 1, mtu_bytes: 1000, mtu_icmp: true", true, true},
		"in secret over IPv6":           {"delay_ms: 1, mtu_bytes: 1400", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			inet := newInternet(t, link.Veth, flat(t, 0, c.path), Cost{})
			inet.ipv6 = c.ipv6
			a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
			out, in := connect(t, a, b, "cubic")
			const size = 100 << 10
			go io.CopyN(out, endless{}, size)
			wait := patience
			if !c.passes {
				wait = 200 * time.Millisecond
			}
			in.SetReadDeadline(time.Now().Add(wait))
			n, err := io.CopyN(io.Discard, in, size)
			if c.passes != (n == size) {
				t.Errorf("%d of %d bytes arrived: %v", n, size, err)
			}
			eventually(t, func() bool { return inet.Counts()[0].Dropped.MTU > 0 })
		})
	}
}

func TestLargeDatagramsPassIfTheyMayBeCut(t *testing.T) {
	inet := newInternet(t, link.Veth, flat(t, 0, "delay_ms: 1, mtu_bytes: 1000, mtu_icmp: true"), Cost{})
	a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
	to := b.listenUDP(t, 7)
	for _, c := range []struct {
		discovery int
		passes    bool
	}{{unix.IP_PMTUDISC_DONT, true}, {unix.IP_PMTUDISC_PROBE, false}} {
		from := a.listenUDP(t, 0)
		raw, err := from.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var set error
		if err := raw.Control(func(fd uintptr) {
			set = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, c.discovery)
		}); err != nil || set != nil {
			t.Fatal(err, set)
		}
		wait := patience
		if !c.passes {
			wait = 200 * time.Millisecond
		}
		if _, err := from.WriteToUDPAddrPort(make([]byte, 1200), b.at(7)); err != nil {
			t.Fatal(err)
		}
		to.SetReadDeadline(time.Now().Add(wait))
		if _, err := to.Read(make([]byte, 1)); (err == nil) != c.passes {
			t.Errorf("discovery %d: %v", c.discovery, err)
		}
	}
}

func TestSamplesFollowAFlow(t *testing.T) {
	const every = 20 * time.Millisecond
	again(t, func() (wrong string) {
		r, err := New(Options{World: flat(t, 20e6, "delay_ms: 1"), SampleEvery: every})
		if err != nil {
			t.Fatal(err)
		}
		inet := &internet{Router: r, host: space(t), kind: link.Veth}
		t.Cleanup(func() { r.Close() })
		a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		got := goodput(t, a, b, "cubic", 100*time.Millisecond, 400*time.Millisecond)
		for _, f := range inet.FlowCounts() {
			if f.Protocol == packet.TCP && f.Delivered.PayloadBytes > 0 {
				return checkSamples(t, f, every, got)
			}
		}
		return "no flow"
	})
}

// checkSamples is about half a second of a flow.
func checkSamples(t *testing.T, f FlowCount, every time.Duration, bps float64) (wrong string) {
	t.Helper()
	for i, s := range f.Samples {
		if s.At < 0 || s.Bytes > f.PayloadBytes || i > 0 && (s.At < f.Samples[i-1].At+every || s.Bytes < f.Samples[i-1].Bytes) {
			t.Errorf("sample %d of %+v does not fit", i, f.Samples)
		}
	}
	if n := len(f.Samples); n < 5 {
		return fmt.Sprintf("%d samples, at %.1f Mbit/s", n, bps/1e6)
	}
	return ""
}
