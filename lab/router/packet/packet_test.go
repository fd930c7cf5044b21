package packet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	a4, b4 = netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.2")
	a6, b6 = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2::2")
)

// super is a super-packet of the protocol with segments of size bytes.
func super(src, dst netip.Addr, protocol uint8, size int, body []byte) (Offload, []byte) {
	transport := make([]byte, 32) // TCP with 12 bytes of options
	if protocol == UDP {
		transport = transport[:8]
	} else {
		binary.BigEndian.PutUint32(transport[4:], 0xfffffff0) // wraps within the packet
		transport[12], transport[13] = 8<<4, ACK|PSH|FIN|CWR
	}
	binary.BigEndian.PutUint16(transport, 40000)
	binary.BigEndian.PutUint16(transport[2:], 8462)

	ip := make([]byte, 40)
	o := Offload{GSOType: gsoUDP, SegmentLen: uint16(size)}
	if src.Is4() {
		ip = ip[:20]
		ip[0], ip[8], ip[9] = 0x45, 64, protocol
		binary.BigEndian.PutUint16(ip[4:], 0xfffe)
		copy(ip[12:], src.AsSlice())
		copy(ip[16:], dst.AsSlice())
	} else {
		ip[0], ip[6], ip[7] = 0x60, protocol, 64
		copy(ip[8:], src.AsSlice())
		copy(ip[24:], dst.AsSlice())
	}
	if protocol == TCP {
		o.GSOType = gsoTCPv4 | gsoECN
		if src.Is6() {
			o.GSOType = gsoTCPv6 | gsoECN
		}
	}
	head := append(ip, transport...)
	p := Packet{Flow: Flow{Protocol: protocol}, Offload: o, Head: head, Body: body, ipLen: len(ip)}
	p.repair()
	return p.Offload, append(head, body...)
}

func parsed(t testing.TB, o Offload, b []byte) Packet {
	t.Helper()
	p, err := Parse(o, b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// segments cuts p down to single packets.
func segments(p Packet) []Packet {
	var all []Packet
	for p.Segments() > 1 {
		all = append(all, p.Cut(1))
	}
	return append(all, p)
}

// verify checks lengths and all checksums of a single packet, finishing the
// partial transport checksum as a network card would.
func verify(t *testing.T, p Packet) {
	t.Helper()
	whole := append(bytes.Clone(p.Head), p.Body...)
	again := parsed(t, p.Offload, whole)
	if again.Segments() != p.Segments() || len(again.Body) != len(p.Body) {
		t.Fatalf("reads back as %d segments of %d bytes", again.Segments(), len(again.Body))
	}
	if whole[0]>>4 == 4 && fold(sum(whole[:p.ipLen])) != 0xffff {
		t.Errorf("bad IP header checksum in % x", whole[:p.ipLen])
	}
	at := p.ipLen + 16
	if p.Protocol == UDP {
		at = p.ipLen + 6
	}
	transport := whole[p.ipLen:]
	full := ^fold(sum(transport))
	binary.BigEndian.PutUint16(whole[at:], full)
	if fold(sum(transport)+uint64(p.pseudoHeader(len(transport)))) != 0xffff {
		t.Error("bad transport checksum")
	}
}

func TestCut(t *testing.T) {
	body := make([]byte, 10*1448+700)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	for name, c := range map[string]struct {
		src, dst netip.Addr
		protocol uint8
	}{
		"tcp over ipv4": {a4, b4, TCP}, "tcp over ipv6": {a6, b6, TCP},
		"udp over ipv4": {a4, b4, UDP}, "udp over ipv6": {a6, b6, UDP},
	} {
		t.Run(name, func(t *testing.T) {
			o, b := super(c.src, c.dst, c.protocol, 1448, body)
			original := bytes.Clone(b)
			p := parsed(t, o, b)
			if p.Segments() != 11 {
				t.Fatalf("%d segments, want 11", p.Segments())
			}
			rest := p
			first := rest.Cut(4)
			if first.Segments() != 4 || rest.Segments() != 7 {
				t.Errorf("cut into %d and %d segments, want 4 and 7", first.Segments(), rest.Segments())
			}
			if got := first.WireLen() + rest.WireLen(); got != p.WireLen() {
				t.Errorf("halves take %d bytes, the whole %d", got, p.WireLen())
			}
			verify(t, first)
			verify(t, rest)
			var joined []byte
			for _, s := range append(segments(first), segments(rest)...) {
				verify(t, s)
				joined = append(joined, s.Body...)
			}
			if !bytes.Equal(joined, body) {
				t.Error("the segments do not carry the body")
			}
			if !bytes.Equal(b, original) {
				t.Error("cutting changed the packet it was cut from")
			}
		})
	}
}

func TestCutCountsSequenceAndFlags(t *testing.T) {
	o, b := super(a4, b4, TCP, 1000, make([]byte, 3000))
	var got [][3]uint32
	for _, s := range segments(parsed(t, o, b)) {
		seq := binary.BigEndian.Uint32(s.Head[s.ipLen+4:])
		id := binary.BigEndian.Uint16(s.Head[4:])
		got = append(got, [3]uint32{seq, uint32(id), uint32(s.Head[s.ipLen+13])})
	}
	want := [][3]uint32{
		{0xfffffff0, 0xfffe, ACK | CWR}, {0x3d8, 0xffff, ACK}, {0x7c0, 0, ACK | PSH | FIN},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sequence, IP id, flags (-want +got):\n%s", diff)
	}
}

func TestSegmentsIn(t *testing.T) {
	o, b := super(a4, b4, TCP, 1448, make([]byte, 2*1448+1))
	p := parsed(t, o, b)
	if p.WireLen() != 2*1500+53 {
		t.Fatalf("WireLen %d", p.WireLen())
	}
	for in, want := range map[int]int{-1: 0, 0: 0, 1499: 0, 1500: 1, 2999: 1, 3052: 2, 3053: 3, 1 << 20: 3} {
		if got := p.SegmentsIn(in); got != want {
			t.Errorf("SegmentsIn(%d) = %d, want %d", in, got, want)
		}
	}
}

func TestOffloadRoundTrip(t *testing.T) {
	want := Offload{Flags: needsChecksum, GSOType: gsoTCPv4, HeadLen: 52, SegmentLen: 1448, ChecksumStart: 20, ChecksumOffset: 16}
	for _, link := range []uint16{0, 14} {
		var b [OffloadLen]byte
		want.Encode(b[:], link)
		if got := DecodeOffload(b[:], link); got != want {
			t.Errorf("link header %d: %+v, want %+v", link, got, want)
		}
	}
}

// icmp4 is an ICMP packet from b4 to a4.
func icmp4(kind uint8, id uint16, quoted []byte) []byte {
	b := make([]byte, 28, 28+len(quoted))
	b[0], b[9], b[20] = 0x45, ICMP, kind
	copy(b[12:], b4.AsSlice())
	copy(b[16:], a4.AsSlice())
	binary.BigEndian.PutUint16(b[24:], id)
	b = append(b, quoted...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}

func TestParseICMP(t *testing.T) {
	echo := parsed(t, Offload{}, icmp4(0, 77, nil))
	if want := (Flow{ICMP, netip.AddrPortFrom(b4, 77), netip.AddrPortFrom(a4, 77)}); echo.Flow != want {
		t.Errorf("echo flow %v, want %v", echo.Flow, want)
	}
	_, about := super(a4, b4, UDP, 100, nil)
	unreachable := parsed(t, Offload{}, icmp4(3, 0, about[:28]))
	if want := (Flow{UDP, netip.AddrPortFrom(a4, 40000), netip.AddrPortFrom(b4, 8462)}); unreachable.About != want {
		t.Errorf("error about %v, want %v", unreachable.About, want)
	}
	if short := parsed(t, Offload{}, icmp4(3, 0, about[:24])); short.About != (Flow{}) {
		t.Errorf("error that quotes too little is about %v", short.About)
	}
}

func TestParseFragments(t *testing.T) {
	_, b := super(a4, b4, UDP, 100, make([]byte, 100))
	b[6], b[7] = 0x20, 0 // first part, more follow
	if p := parsed(t, Offload{}, b); !p.Fragment || p.Dst.Port() != 8462 {
		t.Errorf("first fragment: %+v", p.Flow)
	}
	b[6], b[7] = 0, 5 // a later part
	p := parsed(t, Offload{}, b)
	if !p.Fragment || p.Dst.Port() != 0 || len(p.Head) != 20 || p.FragmentID != 0xfffe {
		t.Errorf("later fragment: %+v", p)
	}
}

func TestParseRefuses(t *testing.T) {
	_, tcp := super(a4, b4, TCP, 1448, make([]byte, 100))
	at := func(i int, v byte) []byte { c := bytes.Clone(tcp); c[i] = v; return c }
	for name, c := range map[string]struct {
		o    Offload
		b    []byte
		want error
	}{
		"nothing":               {Offload{}, nil, ErrTruncated},
		"version 5":             {Offload{}, at(0, 0x55), ErrVersion},
		"short header":          {Offload{}, tcp[:19], ErrTruncated},
		"header length":         {Offload{}, at(0, 0x44), ErrTruncated},
		"total above packet":    {Offload{}, at(2, 0xff), ErrTruncated},
		"tcp header length":     {Offload{}, at(32, 0x40), ErrTruncated},
		"segments of nothing":   {Offload{GSOType: gsoTCPv4}, tcp, ErrOffload},
		"wrong protocol":        {Offload{GSOType: gsoUDP, SegmentLen: 9}, tcp, ErrOffload},
		"unknown offload":       {Offload{GSOType: 3, SegmentLen: 9}, tcp, ErrOffload},
		"checksum past its end": {Offload{Flags: needsChecksum, ChecksumStart: 150, ChecksumOffset: 16}, tcp, ErrOffload},
	} {
		if _, err := Parse(c.o, c.b); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, protocol := range []uint8{TCP, UDP} {
		o, b := super(a4, b4, protocol, 100, make([]byte, 350))
		f.Add(encoded(o), b)
		o, b = super(a6, b6, protocol, 100, make([]byte, 350))
		f.Add(encoded(o), b)
	}
	f.Add(encoded(Offload{}), icmp4(3, 0, icmp4(8, 1, nil)))
	f.Fuzz(func(t *testing.T, offload, b []byte) {
		if len(offload) < OffloadLen {
			return
		}
		p, err := Parse(DecodeOffload(offload, 0), b)
		if err != nil {
			return
		}
		if n := len(p.Head) + len(p.Body); n > len(b) {
			t.Fatalf("%d bytes made of %d", n, len(b))
		}
		total, parts := p.WireLen(), 0
		for p.Segments() > 1 {
			first := p.Cut(1)
			parts += first.WireLen()
			if _, err := Parse(first.Offload, append(bytes.Clone(first.Head), first.Body...)); err != nil {
				t.Fatal(err)
			}
		}
		if parts += p.WireLen(); parts != total {
			t.Fatalf("parts take %d bytes, the whole %d", parts, total)
		}
	})
}

func encoded(o Offload) []byte {
	b := make([]byte, OffloadLen)
	o.Encode(b, 0)
	return b
}
