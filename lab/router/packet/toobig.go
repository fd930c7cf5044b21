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

// MinMTU is the smallest MTU a link may have for the packet's version of IP
// (RFC 791 section 3.2, RFC 8200 section 5).
func (p *Packet) MinMTU() int {
	if p.Head[0]>>4 == 6 {
		return 1280
	}
	return 68
}

// TooBig is the message about p from a router whose next hop has the MTU: a
// whole packet of p's version of IP, of which the router's address is too.
func (p *Packet) TooBig(router netip.Addr, mtu int) []byte {
	if p.Head[0]>>4 == 6 {
		return p.tooBig6(router, mtu)
	}
	return p.tooBig4(router, mtu)
}

// tooBig4 is "fragmentation needed" (RFC 792, with the MTU as in RFC 1191
// section 4).
func (p *Packet) tooBig4(router netip.Addr, mtu int) []byte {
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

// tooBig6 is "packet too big" (RFC 4443 section 3.2). It quotes as much of p as
// fits into the smallest MTU.
func (p *Packet) tooBig6(router netip.Addr, mtu int) []byte {
	const head, icmp, most = 40, 8, 1280 - 40 - 8
	b := make([]byte, head+icmp, head+icmp+most)
	b = append(b, p.Head[:min(len(p.Head), most)]...)
	b = append(b, p.Body[:min(len(p.Body), cap(b)-len(b))]...)
	b[0], b[6], b[7] = 0x60, ICMPv6, 64
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)-head))
	from, to := router.As16(), p.Src.Addr().As16()
	copy(b[8:], from[:])
	copy(b[24:], to[:])
	const packetTooBig = 2
	message := b[head:]
	message[0] = packetTooBig
	binary.BigEndian.PutUint32(message[4:], uint32(mtu))
	pseudo := sum(b[8:head]) + uint64(len(message)) + ICMPv6 // RFC 8200 section 8.1
	binary.BigEndian.PutUint16(message[2:], ^fold(pseudo+sum(message)))
	return b
}
