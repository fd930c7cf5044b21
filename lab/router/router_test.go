//go:build linux

package router

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/vm"
)

// echo answers datagrams until its socket is closed.
func echo(c *net.UDPConn) {
	b := make([]byte, 2000)
	for {
		n, from, err := c.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		_, _ = c.WriteToUDPAddrPort(b[:n], from)
	}
}

// roundTrips are the times of n datagrams to an echo, one after the other,
// shortest first.
func roundTrips(t testing.TB, c *net.UDPConn, to netip.AddrPort, n int) []time.Duration {
	t.Helper()
	var times []time.Duration
	b := make([]byte, 64)
	for range n {
		start := time.Now()
		if err := ask(c, to, b, patience); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start))
		time.Sleep(time.Millisecond)
	}
	slices.Sort(times)
	return times
}

// ask sends a datagram and waits for any answer.
func ask(c *net.UDPConn, to netip.AddrPort, b []byte, timeout time.Duration) error {
	if _, err := c.WriteToUDPAddrPort(b, to); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, _, err := c.ReadFromUDPAddrPort(b)
	return err
}

func TestRoundTripTime(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		again(t, func() (wrong string) { // what a busy computer is calibrated to is too much
			c, err := Calibrate(t.Context(), kind)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", c)
			if c.CapacityBps <= 0 {
				t.Errorf("capacity %v bit/s", c.CapacityBps)
			}
			for _, delayMs := range []float64{0.3, 5, 40} {
				inet := newInternet(t, kind, flat(t, 100e6, fmt.Sprintf("delay_ms: %v", delayMs)), c.Cost)
				a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
				go echo(b.listenUDP(t, 7))
				times := roundTrips(t, a.listenUDP(t, 1000), b.at(7), 16)
				// Other programs can only make them longer, so the bound is
				// generous above, and on the fastest quarter.
				over := times[len(times)/4] - milliseconds(2*delayMs)
				t.Logf("%v ms one way: %v over", delayMs, over)
				if over < -500*time.Microsecond || over > 5*time.Millisecond {
					wrong = fmt.Sprintf("%v ms one way: round trips take %v", delayMs, times)
				}
				if wrong != "" && !prompt(t, a) {
					return tooBusy
				}
			}
			return wrong
		})
	})
}

// endless never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// goodput sends for a time and returns what the receiver read after the first
// warm-up, in bit/s.
func goodput(t testing.TB, a, b *machine, congestion string, warmUp, d time.Duration) float64 {
	t.Helper()
	out, in := connect(t, a, b, congestion)
	go io.Copy(out, endless{})
	readFor(t, in, warmUp)
	start := time.Now()
	n := readFor(t, in, d)
	return float64(n) * 8 / time.Since(start).Seconds()
}

func readFor(t testing.TB, in net.Conn, d time.Duration) int64 {
	t.Helper()
	if err := in.SetReadDeadline(time.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{in}, make([]byte, 1<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return n
}

func TestGoodput(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		for _, c := range []struct {
			name, congestion, path string
			machineBps, wantBps    float64
			ipv6                   bool
		}{
			{"machine under cubic", "cubic", "delay_ms: 5", 50e6, 50e6, false},
			{"machine under cubic over IPv6", "cubic", "delay_ms: 5", 50e6, 50e6, true},
			{"flow under cubic", "cubic", "delay_ms: 5, flow_bps: 20e6", 50e6, 20e6, false},
			{"flow under bbr", "bbr", "delay_ms: 5, flow_bps: 20e6", 50e6, 20e6, false},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				inet := newInternet(t, kind, flat(t, c.machineBps, c.path), Cost{})
				inet.ipv6 = c.ipv6
				a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
				payload := 1448.
				if c.ipv6 {
					payload -= 20 // its header is longer
				}
				want := c.wantBps * payload / 1500
				again(t, func() (wrong string) {
					return reaches(t, kind, c.congestion, want, goodput(t, a, b, c.congestion, 300*time.Millisecond, 800*time.Millisecond))
				})
			})
		}
	})
}

func TestBothDirectionsAtOnce(t *testing.T) {
	inet := newInternet(t, link.Veth, flat(t, 20e6, "delay_ms: 10"), Cost{})
	a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
	var running sync.WaitGroup
	for _, way := range [][2]*machine{{a, b}, {b, a}} {
		running.Go(func() {
			want := 20e6 * 1448. / 1500
			again(t, func() (wrong string) {
				return reaches(t, link.Veth, "cubic", want, goodput(t, way[0], way[1], "cubic", 500*time.Millisecond, time.Second))
			})
		})
	}
	running.Wait()
}

func TestCountsAreTheReceiversBytes(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		again(t, func() (wrong string) {
			inet := newInternet(t, kind, flat(t, 200e6, "delay_ms: 1"), Cost{})
			a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
			out, in := connect(t, a, b, "cubic")
			const size = 1 << 20
			go io.CopyN(out, endless{}, size)
			if _, err := io.CopyN(io.Discard, in, size); err != nil {
				t.Fatal(err)
			}
			counts := inet.Counts()
			if len(counts) != 2 || counts[0].From != "lab:a" || counts[1].From != "lab:b" {
				t.Fatalf("counts of %+v", counts)
			}
			there := counts[0]
			if perPacket := there.Delivered.PayloadBytes / there.Delivered.Packets; perPacket > 1448 {
				t.Errorf("%d bytes a packet: super-packets were counted as one", perPacket)
			}
			var ofFlows int64
			for _, f := range inet.FlowCounts() {
				ofFlows += f.Delivered.PayloadBytes
			}
			// A sender that hears nothing for long repeats what was not lost.
			if n := there.Delivered.PayloadBytes; n < size || n != ofFlows {
				return fmt.Sprintf("counted %+v, %d in flows, received %d", there, ofFlows, size)
			} else if n > size+size/20 || there.Dropped != (Drops{}) {
				return fmt.Sprintf("more than was received: counted %+v, received %d", there, size)
			}
			return ""
		})
	})
}

func TestRulesAreStateful(t *testing.T) {
	forEachNet(t, func(t *testing.T, kind link.Kind, ipv6 bool) {
		inet := newInternet(t, kind, flat(t, 0, "delay_ms: 0.1"), Cost{})
		inet.ipv6 = ipv6
		a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		controller := inet.machine(t, "")
		inet.SetRules(a.id, nil)
		inet.SetRules(controller.id, nil)
		l := b.listenTCP(t)
		port := addrOf(l).Port()
		// A dropped packet shows as silence, so a refusal is waited for shortly.
		connects := func(from *machine, to netip.AddrPort, want bool) bool {
			wait := 100 * time.Millisecond
			if want {
				wait = patience
			}
			c, err := from.dialTCP(to, "cubic", wait)
			if err == nil {
				c.Close()
			} else if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
				t.Errorf("dial: %v", err)
			}
			return err == nil
		}
		for _, c := range []struct {
			name  string
			rules []vm.Rule
			want  bool
		}{
			{"no rules", nil, false},
			{"another port", []vm.Rule{{Protocol: "tcp", FromPort: port + 1, ToPort: port + 1, Sources: everybody("tcp")[0].Sources}}, false},
			{"another protocol", everybody("udp"), false},
			{"another source", []vm.Rule{{Protocol: "tcp", ToPort: 65535, Sources: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}, false},
			{"this one", []vm.Rule{{Protocol: "tcp", FromPort: port, ToPort: port, Sources: []netip.Prefix{netip.PrefixFrom(a.addr, a.addr.BitLen())}}}, true},
		} {
			inet.SetRules(b.id, c.rules)
			if got := connects(a, addrOf(l), c.want); got != c.want {
				t.Errorf("%s: connects is %v, want %v", c.name, got, c.want)
			}
		}
		if connects(controller, addrOf(l), false) {
			t.Error("the rule lets the controller in too")
		}
		if connects(b, a.at(22), false) || connects(b, controller.at(22), false) {
			t.Error("a flow opens where nobody is let in")
		}
	})
}

func TestOpenFlowsSurviveTheirRule(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		inet := newInternet(t, kind, flat(t, 0, "delay_ms: 0.1"), Cost{})
		a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		go echo(b.listenUDP(t, 7))
		old, fresh := a.listenUDP(t, 1000), a.listenUDP(t, 1001)
		if err := ask(old, b.at(7), []byte("1"), patience); err != nil {
			t.Fatal(err)
		}
		inet.SetRules(b.id, nil)
		if err := ask(old, b.at(7), []byte("2"), patience); err != nil {
			t.Errorf("the open flow: %v", err)
		}
		if ask(fresh, b.at(7), []byte("3"), 200*time.Millisecond) == nil {
			t.Error("a new flow opens")
		}
	})
}

func TestErrorsFindTheirWayBack(t *testing.T) {
	forEachNet(t, func(t *testing.T, kind link.Kind, ipv6 bool) {
		inet := newInternet(t, kind, flat(t, 0, "delay_ms: 0.1"), Cost{})
		inet.ipv6 = ipv6
		a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		inet.SetRules(a.id, nil)
		var c net.Conn
		if err := a.do(func() (err error) {
			c, err = net.Dial("udp", b.at(9).String())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("anybody there?")); err != nil {
			t.Fatal(err)
		}
		c.SetReadDeadline(time.Now().Add(patience))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("reading from a closed port: %v, want connection refused", err)
		}
	})
}

func TestFragmentsPass(t *testing.T) {
	forEachNet(t, func(t *testing.T, kind link.Kind, ipv6 bool) {
		inet := newInternet(t, kind, flat(t, 0, "delay_ms: 0.1"), Cost{})
		inet.ipv6 = ipv6
		a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		go echo(b.listenUDP(t, 7))
		// The echo's answers are cut to 2000 bytes, which takes two fragments.
		if err := ask(a.listenUDP(t, 1000), b.at(7), make([]byte, 8000), patience); err != nil {
			t.Error(err)
		}
	})
}

func TestLossIsTheWorlds(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		inet := newInternet(t, kind, flat(t, 0, "delay_ms: 0, loss_ratio: 0.2"), Cost{})
		a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		b.listenUDP(t, 7)
		c := a.listenUDP(t, 1000)
		const sent = 2000
		var count PairCount
		for n := int64(1); n <= sent; n++ {
			if _, err := c.WriteToUDPAddrPort([]byte("x"), b.at(7)); err != nil {
				t.Fatal(err)
			}
			if n%100 > 0 {
				continue // fewer than the device's own queue holds
			}
			eventually(t, func() bool {
				count = slices.Concat(inet.Counts(), []PairCount{{}})[0]
				return count.Delivered.Packets+count.Dropped.Loss == n
			})
		}
		// Six standard deviations: sqrt(2000 * 0.2 * 0.8) is 18.
		if lost := count.Dropped.Loss; lost < 400-107 || lost > 400+107 || lost+count.Delivered.Packets != sent {
			t.Errorf("of %d: %+v", sent, count)
		}
	})
}

func TestPrivateAddressesEndAtTheNetwork(t *testing.T) {
	inet := newInternet(t, link.Veth, flat(t, 0, "delay_ms: 0"), Cost{})
	attach := func(id, region, network, addr string) error {
		m := &machine{scratch: space(t), addr: netip.MustParseAddr(addr)}
		l, err := m.connect(link.Veth, inet.host, m.addr)
		if err != nil {
			t.Fatal(err)
		}
		return inet.Attach(Endpoint{ID: id, Region: region, Network: network, Addrs: []netip.Addr{m.addr}}, l)
	}
	for _, c := range []struct{ id, region, network, addr, want string }{
		{"1", "lab:a", "", "10.0.0.1", ""},
		{"2", "lab:b", "", "10.0.0.1", ""},
		{"3", "lab:a", "", "10.0.0.1", "belongs to 1"},
		{"1", "lab:a", "", "10.0.0.2", "attached already"},
		{"4", "lab:c", "", "10.0.0.4", "not in the world"},
		{"5", "lab:a", "global", "10.0.0.1", ""},
		{"6", "lab:b", "global", "10.0.0.1", "belongs to 5"},
		{"7", "lab:b", "global", "10.0.0.2", ""},
	} {
		err := attach(c.id, c.region, c.network, c.addr)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("attach %s with %s in %s: %v, want %q", c.id, c.addr, c.region, err, c.want)
		}
	}
}

func TestDetachFreesEverything(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		inet := newInternet(t, kind, flat(t, 0, "delay_ms: 50"), Cost{})
		a, b := inet.machine(t, "lab:a"), inet.machine(t, "lab:b")
		if _, err := a.listenUDP(t, 1000).WriteToUDPAddrPort([]byte("too late"), b.at(7)); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return len(inet.FlowCounts()) > 0 })
		inet.Detach(b.id)
		inet.Detach(b.id)
		if flows := inet.FlowCounts(); len(flows) > 0 {
			t.Errorf("flows left: %v", flows)
		}
		l, err := space(t).connect(kind, inet.host, b.addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := inet.Attach(Endpoint{ID: b.id, Region: "lab:b", Addrs: []netip.Addr{b.addr}}, l); err != nil {
			t.Errorf("attach again: %v", err)
		}
	})
}

func TestCloseTwice(t *testing.T) {
	r, err := New(Options{World: flat(t, 0, "delay_ms: 0")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	l, err := space(t).connect(link.Veth, space(t), netip.MustParseAddr("198.18.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Attach(Endpoint{ID: "m"}, l); err == nil {
		t.Error("a closed router takes endpoints")
	}
}

// BenchmarkForward is TCP between two machines without delay or limit.
func BenchmarkForward(b *testing.B) {
	for _, kind := range []link.Kind{link.TUN, link.Veth} {
		b.Run(string(kind), func(b *testing.B) {
			inet := newInternet(b, kind, flat(b, 0, "delay_ms: 0"), Cost{})
			from, to := inet.machine(b, "lab:a"), inet.machine(b, "lab:b")
			out, in := connect(b, from, to, "cubic")
			const size = 1 << 20
			b.SetBytes(size)
			go io.CopyBuffer(struct{ io.Writer }{out}, endless{}, make([]byte, size))
			buffer := make([]byte, size)
			for b.Loop() {
				if _, err := io.ReadFull(in, buffer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
