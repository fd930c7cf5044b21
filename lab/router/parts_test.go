//go:build linux

package router

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/antipode-bench/antipode/lab/router/packet"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/world"
)

// superPacket is a TCP super-packet of n full segments (1500 bytes each).
func superPacket(t testing.TB, n int) packet.Packet {
	t.Helper()
	b := make([]byte, 52+n*1448)
	b[0], b[9], b[32] = 0x45, packet.TCP, 8<<4
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[12:], []byte{198, 18, 0, 1, 198, 18, 0, 2})
	p, err := packet.Parse(packet.Offload{GSOType: 1, SegmentLen: 1448}, b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestShaperHoldsTheRate(t *testing.T) {
	for _, bps := range []float64{1e6, 12e6, 160e6, 10e9} {
		s := newShaper(bps, 0)
		var at time.Duration
		var sent int
		for range 2000 {
			at = s.take(max(0, at-time.Millisecond), 1500) // some are offered late
			sent += 1500
		}
		burst := s.burst.Seconds() * bps / 8
		if got := float64(sent) - burst; math.Abs(got*8/at.Seconds()/bps-1) > 0.001 {
			t.Errorf("%v bit/s: %d bytes less a burst of %.0f in %s", bps, sent, burst, at)
		}
	}
}

func TestShaperLetsSinglePacketsPass(t *testing.T) {
	s := newShaper(1e6, 0)
	for i := range 5 {
		at := time.Duration(i) * 100 * time.Millisecond
		if got := s.take(at, 1500); got != at {
			t.Errorf("packet %d waits %s on an idle link", i, got-at)
		}
	}
}

func TestShaperBoundsItsQueue(t *testing.T) {
	for name, c := range map[string]struct {
		bps   float64
		least time.Duration
		want  int
	}{
		"by time":   {100e6, queueTime, 1_250_000},
		"by bytes":  {1e6, queueTime, queueBytes},
		"as needed": {8e6, time.Second, 1_000_000},
	} {
		s := newShaper(c.bps, c.least)
		if room, limited := s.room(0); !limited || math.Abs(float64(room-c.want)) > 1 {
			t.Errorf("%s: room %d, want %d", name, room, c.want)
		}
		s.take(0, c.want)
		if room, _ := s.room(0); room > int(s.burst.Seconds()*c.bps/8)+1 {
			t.Errorf("%s: room %d in a full queue", name, room)
		}
	}
	var unlimited shaper
	if _, limited := unlimited.room(0); limited || unlimited.take(7, 1<<30) != 7 {
		t.Error("the zero shaper is limited")
	}
}

func TestScheduleKeepsOrder(t *testing.T) {
	var s schedule
	for _, f := range []flight{{at: 3, half: &half{}}, {at: 1}, {at: 3}, {at: 2}} {
		s.add(&f)
	}
	if s.pop(0) != nil {
		t.Error("popped what is not due")
	}
	var got []time.Duration
	for f := s.pop(3); f != nil; f = s.pop(3) {
		if got = append(got, f.at); len(got) == 3 && f.half == nil {
			t.Error("two due at once change places")
		}
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 3, 3}, got); diff != "" {
		t.Error(diff)
	}
	if s.next() != nil {
		t.Error("not empty")
	}
}

// quiet is a router without threads, to call step by step.
func quiet(t testing.TB, w *world.World) (r *Router, from, to *endpoint) {
	t.Helper()
	r = &Router{world: w, paths: make(map[[2]string]*path), flows: newFlowTable()}
	from = newEndpoint(Endpoint{ID: "from", Region: "lab:a"}, nil, w.Machine("lab:a", ""))
	to = newEndpoint(Endpoint{ID: "to", Region: "lab:b"}, nil, w.Machine("lab:b", ""))
	return r, from, to
}

func TestQueueCutsSuperPackets(t *testing.T) {
	r, from, to := quiet(t, flat(t, 10e6, "delay_ms: 5"))
	path := r.path("lab:a", "lab:b")
	var sent, scheduled int
	for range 10 {
		p := superPacket(t, 40)
		sent += 40
		r.send(from, &flight{Packet: p, memory: r.memory.get(60000), path: path, half: &half{}, to: to}, 0)
	}
	var last time.Duration
	for f := r.schedule.pop(time.Hour); f != nil; f = r.schedule.pop(time.Hour) {
		scheduled += f.Segments()
		if f.WireLen() > 1875 { // 1.5 ms at 10 Mbit/s
			t.Errorf("a piece of %d bytes", f.WireLen())
		}
		last = f.at
		r.memory.put(f.memory)
	}
	// 100 ms at the rate, the burst, and not one segment more.
	if want := (125_000 + 3000) / 1500; scheduled != want {
		t.Errorf("%d of %d segments scheduled, want %d", scheduled, sent, want)
	}
	if dropped := path.count.Dropped.Queue; int(dropped)+scheduled != sent {
		t.Errorf("%d dropped and %d scheduled of %d", dropped, scheduled, sent)
	}
	if want := 105 * time.Millisecond; last > want || last < want-2*time.Millisecond {
		t.Errorf("the last one arrives after %s, want %s: dropped packets were charged", last, want)
	}
	if r.memory.used != 0 {
		t.Errorf("%d bytes leak", r.memory.used)
	}
}

func TestAcknowledgementsGoFirst(t *testing.T) {
	r, from, to := quiet(t, flat(t, 10e6, "delay_ms: 5"))
	path := r.path("lab:a", "lab:b")
	for range 10 {
		r.send(from, &flight{Packet: superPacket(t, 40), memory: r.memory.get(1), path: path, half: &half{}, to: to}, 0)
	}
	free := from.egress.free
	ack := superPacket(t, 1)
	ack.Body = nil
	r.send(from, &flight{Packet: ack, memory: r.memory.get(1), path: path, half: &half{}, to: to}, time.Millisecond)
	if from.egress.free <= free {
		t.Error("it is not charged")
	}
	i := slices.IndexFunc(r.schedule.flights, func(f *flight) bool { return len(f.Body) == 0 })
	if i < 0 || r.schedule.flights[i].at != 6*time.Millisecond {
		t.Error("it waits behind data")
	}
}

func TestLossTakesSingleSegments(t *testing.T) {
	r, from, to := quiet(t, flat(t, 0, "delay_ms: 5, loss_ratio: 0.1"))
	path := r.path("lab:a", "lab:b")
	var arrived, cut int
	for range 1000 {
		r.send(from, &flight{Packet: superPacket(t, 40), memory: r.memory.get(60000), path: path, to: to}, 0)
	}
	for f := r.schedule.pop(time.Hour); f != nil; f = r.schedule.pop(time.Hour) {
		arrived += f.Segments()
		cut++
	}
	lost := int(path.count.Dropped.Loss)
	if lost+arrived != 40_000 || lost < 3600 || lost > 4400 {
		t.Errorf("%d lost, %d arrived", lost, arrived)
	}
	if cut < 3000 {
		t.Errorf("losses come in %d lumps", cut)
	}
}

func TestJitterKeepsOrder(t *testing.T) {
	r, from, to := quiet(t, flat(t, 0, "delay_ms: 10, jitter_ms: 5"))
	half := &half{}
	var first, last time.Duration
	for i := range 100 {
		f := &flight{Packet: superPacket(t, 1), memory: r.memory.get(1), path: r.path("lab:a", "lab:b"), half: half, to: to}
		r.send(from, f, 0)
		if f.at < last {
			t.Fatalf("packet %d overtakes", i)
		}
		if last = f.at; i == 0 {
			first = f.at
		}
	}
	if first < 5*time.Millisecond || last > 15*time.Millisecond || first == last {
		t.Errorf("delays from %s to %s, want 10 ± 5 ms", first, last)
	}
}

func TestCostIsTakenOff(t *testing.T) {
	cost := Cost{Short: 100 * time.Microsecond, Long: 200 * time.Microsecond}
	for delayMs, wantMs := range map[float64]float64{0: 0, 0.05: 0, 1: 0.9, 5.5: 5.35, 100: 99.8} {
		if got := newPath(world.Path{DelayMs: delayMs}, cost).travel(); got != milliseconds(wantMs) {
			t.Errorf("%v ms: %s, want %v ms", delayMs, got, wantMs)
		}
	}
}

func TestAllow(t *testing.T) {
	from := func(s string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(s)} }
	here := from("198.18.0.0/15")
	for name, c := range map[string]struct {
		rule     vm.Rule
		protocol uint8
		port     uint16
		want     bool
	}{
		"first port":    {vm.Rule{Protocol: "tcp", FromPort: 22, ToPort: 25, Sources: here}, packet.TCP, 22, true},
		"last port":     {vm.Rule{Protocol: "tcp", FromPort: 22, ToPort: 25, Sources: here}, packet.TCP, 25, true},
		"next port":     {vm.Rule{Protocol: "tcp", FromPort: 22, ToPort: 25, Sources: here}, packet.TCP, 26, false},
		"udp for tcp":   {vm.Rule{Protocol: "udp", FromPort: 22, ToPort: 25, Sources: here}, packet.TCP, 22, false},
		"udp":           {vm.Rule{Protocol: "udp", FromPort: 22, ToPort: 25, Sources: here}, packet.UDP, 22, true},
		"icmp":          {vm.Rule{Protocol: "icmp", Sources: here}, packet.ICMP, 77, true},
		"all":           {vm.Rule{Protocol: "all", Sources: here}, 132, 0, true},
		"unknown":       {vm.Rule{Protocol: "sctp", Sources: here}, 132, 0, false},
		"nobody":        {vm.Rule{Protocol: "all"}, packet.TCP, 22, false},
		"somebody else": {vm.Rule{Protocol: "all", Sources: from("10.0.0.0/8")}, packet.TCP, 22, false},
	} {
		p := packet.Packet{Flow: packet.Flow{
			Protocol: c.protocol,
			Src:      netip.MustParseAddrPort("198.18.0.1:4000"),
			Dst:      netip.AddrPortFrom(netip.MustParseAddr("198.18.0.2"), c.port),
		}}
		if got := allow([]vm.Rule{c.rule}, &p); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func flowOf(protocol uint8, src, dst string) packet.Flow {
	return packet.Flow{Protocol: protocol, Src: netip.MustParseAddrPort(src), Dst: netip.MustParseAddrPort(dst)}
}

func TestFlowsAreForgotten(t *testing.T) {
	const a, b = "198.18.0.1:1000", "198.18.0.2:22"
	for name, c := range map[string]struct {
		protocol uint8
		flags    uint8
		answered bool
		limit    time.Duration
	}{
		"open tcp":       {packet.TCP, packet.ACK, true, tcpIdle},
		"opening tcp":    {packet.TCP, packet.SYN, false, tcpHalfIdle},
		"closing tcp":    {packet.TCP, packet.FIN, true, tcpHalfIdle},
		"answered udp":   {packet.UDP, 0, true, datagramIdle},
		"unanswered udp": {packet.UDP, 0, false, unansweredIdle},
	} {
		table, at := newFlowTable(), &endpoint{}
		there := packet.Packet{Flow: flowOf(c.protocol, a, b), TCPFlags: c.flags}
		back := packet.Packet{Flow: there.Reverse(), TCPFlags: packet.ACK}
		table.admit(&there, at, everybody("all"), 0)
		if c.answered {
			if _, ok := table.admit(&back, at, nil, 0); !ok {
				t.Errorf("%s: the answer does not pass", name)
			}
		}
		if table.find(flowKey{Flow: there.Flow}, c.limit) == nil {
			t.Errorf("%s: forgotten too early", name)
		}
		if _, ok := table.admit(&back, at, nil, c.limit+1); ok {
			t.Errorf("%s: still known after %s", name, c.limit)
		}
	}
}

func TestFlowTableIsBounded(t *testing.T) {
	table, at := newFlowTable(), &endpoint{}
	for i := range maxFlows + 10 {
		to := fmt.Sprintf("198.18.%d.%d:1", i>>8&0xff, i&0xff)
		p := packet.Packet{Flow: flowOf(packet.UDP, fmt.Sprintf("198.19.0.1:%d", 1+i>>16), to)}
		table.admit(&p, at, nil, 0)
	}
	if len(table.byKey) > maxFlows || table.byUse.Len() != len(table.byKey) {
		t.Errorf("%d flows, %d in use", len(table.byKey), table.byUse.Len())
	}
}

func TestDeniedFlowLetsAnswersIn(t *testing.T) {
	table, at := newFlowTable(), &endpoint{}
	there := packet.Packet{Flow: flowOf(packet.UDP, "198.18.0.1:1", "198.18.0.2:2")}
	back := packet.Packet{Flow: there.Reverse()}
	if _, ok := table.admit(&there, at, nil, 0); ok {
		t.Error("it passes without a rule")
	}
	if _, ok := table.admit(&back, at, nil, 0); !ok {
		t.Error("the other side may not answer what it never saw: it opened the flow from its own ports")
	}
}

func TestLateIsWhatWouldShow(t *testing.T) {
	var l Late
	for _, c := range []struct {
		protocol uint8
		late     time.Duration
	}{
		{packet.UDP, lateDatagram - 1}, {packet.UDP, lateDatagram},
		{packet.TCP, lateSegment - 1}, {packet.TCP, lateSegment}, {packet.TCP, time.Second},
	} {
		l.note(&packet.Packet{Flow: packet.Flow{Protocol: c.protocol}}, c.late)
	}
	if want := (Late{Datagrams: 1, Segments: 2}); l != want {
		t.Errorf("%+v, want %+v", l, want)
	}
}

func TestLeadFollowsTheComputer(t *testing.T) {
	l := lead{credit: maxCredit}
	if l.time() != minLead {
		t.Errorf("begins with %s", l.time())
	}
	for range 100 {
		l.learn(100 * time.Microsecond)
	}
	if got := l.time(); got < 140*time.Microsecond || got > 150*time.Microsecond {
		t.Errorf("%s after being late by 100 µs", got)
	}
	for range 100 {
		l.learn(time.Second)
	}
	if l.time() != maxLead {
		t.Errorf("%s after being late by a second", l.time())
	}
}

func TestWatchingTheClockIsBounded(t *testing.T) {
	l := lead{usual: 100 * time.Microsecond}
	var watched, slept time.Duration
	for watched+slept < time.Second {
		if lead := l.time(); lead > 0 {
			l.spend(lead, true)
			watched += lead
		} else {
			l.spend(10*time.Microsecond, false)
			slept += 10 * time.Microsecond
		}
	}
	if share := watched.Seconds(); share > 0.21 || share < 0.19 {
		t.Errorf("%.0f %% of the time spent watching", 100*share)
	}
}

func TestMemorySharesAndReuses(t *testing.T) {
	var m memory
	big := m.get(60_000)
	small, b := m.shrink(big, append(big.bytes[:0], "hello"...))
	if string(b) != "hello" || len(small.bytes) != chunkSizes[0] || m.used != chunkSizes[0] {
		t.Errorf("shrunk to %q in %d, %d used", b, len(small.bytes), m.used)
	}
	small.users++
	m.put(small)
	if m.used == 0 {
		t.Error("freed while in use")
	}
	m.put(small)
	if m.used != 0 || m.get(1) != small || m.get(60_000) != big {
		t.Error("chunks are not used again")
	}
	if !slices.IsSorted(chunkSizes[:]) {
		t.Error("sizes must ascend")
	}
}
