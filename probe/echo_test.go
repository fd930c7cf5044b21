//go:build linux

package probe

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	echoKey  = mac{1, 2, 3}
	echoFrom = netip.MustParseAddrPort("192.0.2.1:999")
)

// oneEcho has one session, of 70 probes.
func oneEcho(t *testing.T) (*echoes, *echo) {
	t.Helper()
	e := newEchoes()
	s := &echo{
		id: sessionID{7}, addr: echoFrom.Addr(), signer: newSigner(echoKey), limit: 70,
		seen: newSet(70), sizes: newSet(maxSizes), held: make([]uint32, 70),
	}
	must(t, e.add(s))
	return e, s
}

func made(p packet) []byte {
	p.session = sessionID{7}
	b := make([]byte, packetBytes)
	newSigner(echoKey).encode(p, b)
	return b
}

func query(seq uint32) []byte { return made(packet{kind: packetQuery, seq: seq}) }

func arriving(data []byte) arrival { return arrival{data: data, size: len(data), from: echoFrom} }

func TestEchoAnswersOnce(t *testing.T) {
	e, s := oneEcho(t)
	out := make([]byte, packetBytes)
	a := arriving(query(69))
	a.stamp = time.Now().Add(-time.Second).UnixNano()
	if !e.answer(a, out) {
		t.Fatal("a valid query is not answered")
	}
	p, err := parsePacket(out)
	must(t, err)
	if !newSigner(echoKey).verify(out) || p.kind != packetAnswer || p.seq != 69 || p.residence < time.Second || p.arrived != a.stamp {
		t.Errorf("answer %+v", p)
	}
	if e.answer(a, out) {
		t.Error("a replayed query is answered")
	}
	if !e.answer(arriving(query(3)), out) { // overtaken by 69
		t.Error("a query that was overtaken is not answered")
	}
	if s.answered != 2 || s.duplicates != 1 || s.order.reordered != 1 {
		t.Errorf("%d answered, %d duplicates, %d reordered; want 2, 1 and 1", s.answered, s.duplicates, s.order.reordered)
	}
	e.remove(sessionID{7})
	if e.answer(arriving(query(1)), out) {
		t.Error("a query is answered after its session")
	}
}

// TestEchoHeld: what the kernel echoes of an answer says when it left.
func TestEchoHeld(t *testing.T) {
	e, s := oneEcho(t)
	a := arriving(query(5))
	a.stamp = time.Now().Add(-time.Millisecond).UnixNano()
	e.answer(a, e.out)
	e.leaving.wall = a.stamp + 1_200_000
	e.departed(a.stamp+1_234_567, e.out)
	if s.held[5] != 1_234_567 || len(s.sending) != 1 || s.sending[0] != 34_567 {
		t.Errorf("held for %d ns, sending took %d", s.held[5], s.sending)
	}
	for name, c := range map[string]struct {
		stamp int64
		tail  []byte
	}{
		"before it came":    {a.stamp - 1, made(packet{kind: packetAnswer, seq: 6, arrived: a.stamp, residence: 1})},
		"an hour later":     {a.stamp + int64(time.Hour), made(packet{kind: packetAnswer, seq: 7, arrived: a.stamp, residence: 1})},
		"without a stamp":   {a.stamp, made(packet{kind: packetAnswer, seq: 8})},
		"of another kind":   {a.stamp, query(9)},
		"beyond the order":  {a.stamp + 1, made(packet{kind: packetAnswer, seq: 70, arrived: a.stamp, residence: 1})},
		"of no packet ours": {a.stamp, bytes.Repeat([]byte{1}, packetBytes)},
	} {
		e.departed(c.stamp, c.tail)
		for seq, held := range s.held {
			if seq != 5 && held != 0 {
				t.Errorf("%s: held for %d ns", name, held)
			}
		}
	}
}

func TestEchoSized(t *testing.T) {
	e, _ := oneEcho(t)
	out := make([]byte, packetBytes)
	sized := func(seq, size uint32) arrival {
		a := arriving(made(packet{kind: packetSized, seq: seq, number: size}))
		a.size = int(size)
		return a
	}
	if !e.answer(sized(3, 1472), out) {
		t.Fatal("not answered")
	}
	if p, err := parsePacket(out); err != nil || p.kind != packetFits || p.seq != 3 {
		t.Errorf("answer %+v, %v", p, err)
	}
	shorter, pieces := sized(4, 1472), sized(5, 1472)
	shorter.size--
	pieces.fragment = 1400
	for name, a := range map[string]arrival{
		"again": sized(3, 1472), "shorter than it says": shorter, "in pieces": pieces, "one too many": sized(maxSizes, 1472),
	} {
		if e.answer(a, out) {
			t.Errorf("%s: answered", name)
		}
	}
}

func TestEchoRefuses(t *testing.T) {
	answer := make([]byte, packetBytes)
	newSigner(echoKey).encode(packet{kind: packetAnswer, session: sessionID{7}, seq: 1}, answer)
	forged := query(1)
	forged[packetBytes-1] ^= 1
	foreign := make([]byte, packetBytes)
	newSigner(echoKey).encode(packet{kind: packetQuery, session: sessionID{8}}, foreign)
	tests := []struct {
		name string
		data []byte
		from netip.AddrPort
	}{
		{"nothing", nil, echoFrom},
		{"garbage", bytes.Repeat([]byte{'a'}, packetBytes), echoFrom},
		{"short", query(1)[:packetBytes-1], echoFrom},
		{"long", append(query(1), 0), echoFrom},
		{"forged", forged, echoFrom},
		{"an answer", answer, echoFrom},
		{"beyond the order", query(70), echoFrom},
		{"of another session", foreign, echoFrom},
		{"from another address", query(1), netip.MustParseAddrPort("192.0.2.2:999")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := oneEcho(t)
			if e.answer(arrival{data: tt.data, size: len(tt.data), from: tt.from}, make([]byte, packetBytes)) {
				t.Error("answered")
			}
		})
	}
}

func FuzzPacket(f *testing.F) {
	f.Add(query(3))
	f.Add(made(packet{kind: packetAnswer, seq: 3, number: 1, residence: 5, arrived: 6}))
	f.Add(made(packet{kind: packetSized, seq: 3, number: packetBytes}))
	f.Add(made(packet{kind: packetFits, seq: 3}))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePacket(b)
		if err != nil {
			return
		}
		again := make([]byte, packetBytes)
		newSigner(echoKey).encode(p, again)
		if !bytes.Equal(again[:packetSigned], b[:packetSigned]) {
			t.Errorf("%x became %x", b, again)
		}
		e, _ := oneEcho(t)
		valid := p.session == sessionID{7} && newSigner(echoKey).verify(b) &&
			(p.kind == packetQuery && p.seq < 70 || p.kind == packetSized && p.seq < maxSizes && int(p.number) == len(b))
		if e.answer(arriving(b), again) != valid {
			t.Error("answered without a valid MAC, or not with one")
		}
		e.departed(p.arrived+1, b)
	})
}

func FuzzAncillary(f *testing.F) {
	oob := unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: 3, Spec_dst: [4]byte{10, 0, 0, 1}})
	f.Add(append(oob, unix.PktInfo6(&unix.Inet6Pktinfo{Ifindex: 3})...))
	f.Fuzz(func(t *testing.T, oob []byte) {
		if len(oob) <= ancillaryBytes {
			parseAncillary(oob)
		}
	})
}

func TestAncillaryAnswersFromSameAddress(t *testing.T) {
	reply := parseAncillary(unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: 3, Spec_dst: [4]byte{10, 0, 0, 1}})).reply
	want := unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: [4]byte{10, 0, 0, 1}})
	if !bytes.Equal(reply, want) {
		t.Errorf("reply %x, want %x", reply, want)
	}
	stamp := make([]byte, unix.CmsgSpace(16))
	binary.NativeEndian.PutUint64(stamp, uint64(unix.CmsgLen(16)))
	binary.NativeEndian.PutUint32(stamp[8:], unix.SOL_SOCKET)
	binary.NativeEndian.PutUint32(stamp[12:], unix.SCM_TIMESTAMPNS)
	binary.NativeEndian.PutUint64(stamp[unix.CmsgLen(0):], 5)
	binary.NativeEndian.PutUint64(stamp[unix.CmsgLen(0)+8:], 6)
	if got := parseAncillary(stamp).stamp; got != 5e9+6 {
		t.Errorf("stamp %v", got)
	}
}
