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
	o, b = super(a6, b6, TCP, 1448, make([]byte, 5000))
	six := parsed(t, o, b)
	if six.TooBig(router, 1400) != nil {
		t.Error("an IPv4 router complains of an IPv6 packet")
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
