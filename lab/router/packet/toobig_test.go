package packet

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
)

func TestTooBig(t *testing.T) {
	o, b := super(a4, b4, TCP, 1448, make([]byte, 5000))
	p := parsed(t, o, b)
	router := netip.MustParseAddr("198.18.255.1")
	message := parsed(t, Offload{}, p.TooBig(router, 1400))
	if message.About != p.Flow || message.Src.Addr() != router || message.Dst.Addr() != a4 {
		t.Errorf("%+v about %+v", message, p.Flow)
	}
	ip, icmp := p.TooBig(router, 1400)[:20], p.TooBig(router, 1400)[20:]
	if icmp[0] != 3 || icmp[1] != 4 || binary.BigEndian.Uint16(icmp[6:]) != 1400 {
		t.Errorf("message %x", icmp[:8])
	}
	if fold(sum(ip)) != 0xffff || fold(sum(icmp)) != 0xffff {
		t.Error("a checksum is wrong")
	}
}

func TestTooBigOfIPv6(t *testing.T) {
	for name, body := range map[string]int{"super-packet": 5000, "small": 10} {
		o, b := super(a6, b6, TCP, 1448, make([]byte, body))
		p := parsed(t, o, b)
		router := netip.MustParseAddr("2001:2::fe")
		whole := p.TooBig(router, 1400)
		message := parsed(t, Offload{}, whole)
		if message.About != p.Flow || message.Src.Addr() != router || message.Dst.Addr() != a6 {
			t.Errorf("%s: %+v about %+v", name, message, p.Flow)
		}
		if icmp := whole[40:]; icmp[0] != 2 || icmp[1] != 0 || binary.BigEndian.Uint32(icmp[4:]) != 1400 {
			t.Errorf("%s: message %x", name, icmp[:8])
		}
		if want := min(len(b), 1280-48); len(whole) != 48+want {
			t.Errorf("%s: %d bytes of the packet are quoted, want %d", name, len(whole)-48, want)
		}
		if fold(sum(whole[40:])+uint64(message.pseudoHeader(len(whole)-40))) != 0xffff {
			t.Errorf("%s: the checksum is wrong", name)
		}
	}
}

func TestMinMTU(t *testing.T) {
	for want, b := range map[int][]byte{68: {0x45}, 1280: {0x60}} {
		if p := (Packet{Head: b}); p.MinMTU() != want {
			t.Errorf("MinMTU of version %d = %d, want %d", b[0]>>4, p.MinMTU(), want)
		}
	}
}

func TestDontFragment(t *testing.T) {
	o, b := super(a4, b4, UDP, 100, make([]byte, 100))
	may := parsed(t, o, slices.Clone(b))
	b[6] |= 0x40
	mustNot := parsed(t, o, b)
	o, b = super(a6, b6, UDP, 100, make([]byte, 100))
	six := parsed(t, o, b)
	if !mustNot.DontFragment() || !six.DontFragment() {
		t.Error("a packet that must not be cut may be")
	}
	if may.DontFragment() {
		t.Error("a packet that may be cut must not be")
	}
}

func TestSeq(t *testing.T) {
	o, b := super(a4, b4, TCP, 1448, make([]byte, 5000))
	p := parsed(t, o, b)
	if p.Seq() != 0xfffffff0 {
		t.Errorf("sequence number %#x", p.Seq())
	}
	if first := p.Cut(2); first.Seq() != 0xfffffff0 || p.Seq() != 2*1448-16 {
		t.Errorf("cut in %#x and %#x", first.Seq(), p.Seq())
	}
	o, b = super(a4, b4, UDP, 100, make([]byte, 100))
	datagram := parsed(t, o, b)
	if datagram.Seq() != 0 {
		t.Error("a datagram has a sequence number")
	}
}
