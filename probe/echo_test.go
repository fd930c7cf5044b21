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

// newEchoes has one session, of 70 probes.
func newEchoes(t *testing.T) *echoes {
	t.Helper()
	e := &echoes{}
	must(t, e.add(&echo{
		id: sessionID{7}, addr: echoFrom.Addr(), signer: newSigner(echoKey), seen: make([]uint64, 2), limit: 70,
	}))
	return e
}

func query(seq uint32) []byte {
	b := make([]byte, packetBytes)
	newSigner(echoKey).encode(packet{kind: packetQuery, session: sessionID{7}, seq: seq}, b)
	return b
}

func TestEchoAnswersOnce(t *testing.T) {
	e := newEchoes(t)
	out := make([]byte, packetBytes)
	a := arrival{data: query(69), from: echoFrom, stamp: time.Now().Add(-time.Second)}
	if !e.answer(a, out) {
		t.Fatal("a valid query is not answered")
	}
	p, err := parsePacket(out)
	must(t, err)
	if !newSigner(echoKey).verify(out) || p.kind != packetAnswer || p.seq != 69 || p.residence < time.Second {
		t.Errorf("answer %+v", p)
	}
	if e.answer(a, out) {
		t.Error("a replayed query is answered")
	}
	if n := e.remove(sessionID{7}); n != 1 {
		t.Errorf("%d answered, want 1", n)
	}
	if e.answer(arrival{data: query(1), from: echoFrom}, out) {
		t.Error("a query is answered after its session")
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
			if newEchoes(t).answer(arrival{data: tt.data, from: tt.from}, make([]byte, packetBytes)) {
				t.Error("answered")
			}
		})
	}
}

func TestPingerTakesOnce(t *testing.T) {
	now := time.Now()
	p := &pinger{
		ctl: &control{handshake: handshake{id: sessionID{7}}}, wait: time.Second, signer: newSigner(echoKey),
		probes: []probe{{sent: now}, {sent: now}, {}}, sent: 2, all: make(chan struct{}),
	}
	answer := func(seq uint32, residence time.Duration) arrival {
		b := make([]byte, packetBytes)
		newSigner(echoKey).encode(packet{kind: packetAnswer, session: sessionID{7}, seq: seq, residence: residence}, b)
		return arrival{data: b}
	}
	p.take(answer(0, 3*time.Millisecond), now.Add(10*time.Millisecond))
	p.take(answer(0, 0), now.Add(20*time.Millisecond)) // a duplicate
	p.take(answer(1, 0), now.Add(2*time.Second))       // too late
	p.take(answer(2, 0), now)                          // not sent yet
	p.take(answer(9, 0), now)                          // never to be sent
	p.take(arrival{data: query(1)}, now)               // our own query, reflected
	r, err := p.result(echoFrom, nil)
	must(t, err)
	if r.Probes != 2 || r.Received != 1 || r.LossRatio != .5 || r.MinMs != 7 {
		t.Errorf("%+v", *r)
	}
}

func TestRoundTrip(t *testing.T) {
	sent := time.Now()
	ms := time.Millisecond
	tests := []struct {
		name            string
		now, stamp      time.Duration // after sent; a stamp of 0 is none
		residence, want time.Duration
	}{
		{"no stamp", 10 * ms, 0, 0, 10 * ms},
		{"woken late", 10 * ms, 8 * ms, 0, 8 * ms},
		{"responder slow", 10 * ms, 8 * ms, 3 * ms, 5 * ms},
		{"clock set forward", 10 * ms, time.Hour, 3 * ms, 7 * ms},
		{"clock set back", 10 * ms, -time.Hour, 3 * ms, 7 * ms},
		{"responder's clock set", 10 * ms, 8 * ms, time.Hour, 8 * ms},
		{"responder lies", 10 * ms, 8 * ms, -time.Hour, 8 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stamp time.Time
			if tt.stamp != 0 {
				stamp = sent.Add(tt.stamp).Round(0)
			}
			if got := roundTrip(sent, sent.Add(tt.now), stamp, tt.residence); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzPacket(f *testing.F) {
	f.Add(query(3))
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
		e := newEchoes(t)
		if e.answer(arrival{data: b, from: echoFrom}, again) != newSigner(echoKey).verify(b) && p.seq < 70 && p.session == (sessionID{7}) && p.kind == packetQuery {
			t.Error("answered without a valid MAC, or not with one")
		}
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
	_, reply := parseAncillary(unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: 3, Spec_dst: [4]byte{10, 0, 0, 1}}))
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
	if got, _ := parseAncillary(stamp); !got.Equal(time.Unix(5, 6)) {
		t.Errorf("stamp %v", got)
	}
}
