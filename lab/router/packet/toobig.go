package packet

import (
	"encoding/binary"
	"net/netip"
)

// DontFragment reports whether routers must not cut p in pieces. IPv6 packets
// never are (RFC 8200 section 5).
func (p *Packet) DontFragment() bool {
	const flag = 0x40
	return p.Head[0]>>4 == 6 || p.Head[6]&flag != 0
}

// Seq is the TCP sequence number of its first byte; 0 if it is not TCP.
func (p *Packet) Seq() uint32 {
	if p.Protocol != TCP || p.Fragment {
		return 0
	}
	return binary.BigEndian.Uint32(p.Head[p.ipLen+4:])
}

// TooBig is the message "fragmentation needed" (RFC 792, with the MTU of the
// next hop as in RFC 1191 section 4) about p, from an IPv4 router: a whole
// IPv4 packet. It is nil if p is not IPv4.
func (p *Packet) TooBig(router netip.Addr, mtu int) []byte {
	if p.Head[0]>>4 != 4 {
		return nil
	}
	const head, icmp = 20, 8
	quote := p.Head[:min(len(p.Head), p.ipLen+8)]
	b := make([]byte, head+icmp, head+icmp+len(quote))
	b = append(b, quote...)
	b[0], b[8], b[9] = 0x45, 64, ICMP
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	from, to := router.As4(), p.Src.Addr().As4()
	copy(b[12:], from[:])
	copy(b[16:], to[:])
	binary.BigEndian.PutUint16(b[10:], ^fold(sum(b[:head])))
	const unreachable, fragmentationNeeded = 3, 4
	message := b[head:]
	message[0], message[1] = unreachable, fragmentationNeeded
	binary.BigEndian.PutUint16(message[6:], uint16(mtu))
	binary.BigEndian.PutUint16(message[2:], ^fold(sum(message)))
	return b
}
