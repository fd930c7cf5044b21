package packet

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// Reasons why bytes are not a packet the router carries.
var (
	ErrTruncated = errors.New("packet is shorter than its headers say")
	ErrVersion   = errors.New("packet is neither IPv4 nor IPv6")
	ErrOffload   = errors.New("virtio-net header does not fit the packet")
)

// Parse reads the headers of the IP packet in b, which the packet then keeps.
// Bytes after the end of the packet, as some links add, are ignored.
func Parse(o Offload, b []byte) (Packet, error) {
	p := Packet{Offload: o}
	rest, err := p.network(b)
	if err != nil {
		return Packet{}, err
	}
	if err := p.transport(rest); err != nil {
		return Packet{}, err
	}
	if !p.offloadFits() {
		return Packet{}, ErrOffload
	}
	return p, nil
}

// network reads the IP header and returns what follows it.
func (p *Packet) network(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, ErrTruncated
	}
	switch b[0] >> 4 {
	case 4:
		return p.ipv4(b)
	case 6:
		return p.ipv6(b)
	}
	return nil, ErrVersion
}

func (p *Packet) ipv4(b []byte) ([]byte, error) {
	if len(b) < 20 {
		return nil, ErrTruncated
	}
	head, total := int(b[0]&0xf)*4, int(binary.BigEndian.Uint16(b[2:]))
	if head < 20 || head > total || total > len(b) {
		return nil, ErrTruncated
	}
	p.Protocol, p.ipLen = b[9], head
	src, dst := netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
	p.Src, p.Dst = netip.AddrPortFrom(src, 0), netip.AddrPortFrom(dst, 0)
	const moreFragments, offsetMask = 0x2000, 0x1fff
	part := binary.BigEndian.Uint16(b[6:])
	p.Fragment = part&(moreFragments|offsetMask) != 0
	p.FragmentID = uint32(binary.BigEndian.Uint16(b[4:]))
	p.Head, p.Body = b[:head], b[head:total]
	if part&offsetMask != 0 {
		return nil, nil
	}
	return p.Body, nil
}

// ipv6 knows the fixed header and the fragment header (RFC 8200); packets with
// other extension headers have no ports.
func (p *Packet) ipv6(b []byte) ([]byte, error) {
	const head, fragmentHeader = 40, 44
	if len(b) < head {
		return nil, ErrTruncated
	}
	total := head + int(binary.BigEndian.Uint16(b[4:]))
	if total > len(b) {
		return nil, ErrTruncated
	}
	p.Protocol, p.ipLen = b[6], head
	src, dst := netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
	p.Src, p.Dst = netip.AddrPortFrom(src, 0), netip.AddrPortFrom(dst, 0)
	p.Head, p.Body = b[:head], b[head:total]
	if p.Protocol != fragmentHeader {
		return p.Body, nil
	}
	if len(p.Body) < 8 {
		return nil, ErrTruncated
	}
	f := p.Body[:8]
	p.Protocol, p.Fragment, p.FragmentID = f[0], true, binary.BigEndian.Uint32(f[4:])
	p.ipLen += len(f)
	p.Head, p.Body = b[:p.ipLen], p.Body[len(f):]
	if binary.BigEndian.Uint16(f[2:])>>3 != 0 {
		return nil, nil
	}
	return p.Body, nil
}

// transport reads the header at the beginning of b; nil has none to read.
func (p *Packet) transport(b []byte) error {
	if b == nil {
		return nil
	}
	switch p.Protocol {
	case TCP:
		if len(b) < 20 || int(b[12]>>4)*4 < 20 || int(b[12]>>4)*4 > len(b) {
			return ErrTruncated
		}
		p.TCPFlags = b[13]
		p.ports(b)
		p.extendHead(int(b[12]>>4) * 4)
	case UDP:
		if len(b) < 8 {
			return ErrTruncated
		}
		p.ports(b)
		p.extendHead(8)
	case ICMP, ICMPv6:
		return p.icmp(b)
	}
	return nil
}

func (p *Packet) ports(b []byte) {
	p.Src = netip.AddrPortFrom(p.Src.Addr(), binary.BigEndian.Uint16(b))
	p.Dst = netip.AddrPortFrom(p.Dst.Addr(), binary.BigEndian.Uint16(b[2:]))
}

// extendHead moves n bytes from Body to Head, which lie side by side.
func (p *Packet) extendHead(n int) {
	p.Head, p.Body = p.Head[:len(p.Head)+n], p.Body[n:]
}

func (p *Packet) icmp(b []byte) error {
	if len(b) < 8 {
		return ErrTruncated
	}
	switch {
	case p.isEcho(b[0]):
		id := binary.BigEndian.Uint16(b[4:])
		p.Src = netip.AddrPortFrom(p.Src.Addr(), id)
		p.Dst = netip.AddrPortFrom(p.Dst.Addr(), id)
	case p.isError(b[0]):
		p.About = quoted(b[8:])
	}
	return nil
}

// isEcho knows echo requests and replies (RFC 792, RFC 4443).
func (p *Packet) isEcho(kind uint8) bool {
	if p.Protocol == ICMPv6 {
		return kind == 128 || kind == 129
	}
	return kind == 8 || kind == 0
}

// isError knows the messages that quote the packet they are about.
func (p *Packet) isError(kind uint8) bool {
	if p.Protocol == ICMPv6 {
		return kind >= 1 && kind <= 4
	}
	return kind == 3 || kind == 4 || kind == 5 || kind == 11 || kind == 12
}

// quoted reads the flow of the packet an ICMP error quotes, of which only the
// beginning is there. It is the zero Flow if that is not enough.
func quoted(b []byte) Flow {
	var q Packet
	var rest []byte
	switch {
	case len(b) >= 20 && b[0]>>4 == 4 && b[0]&0xf >= 5:
		q.Protocol = b[9]
		q.Src = netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[12:16])), 0)
		q.Dst = netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[16:20])), 0)
		rest = b[min(len(b), int(b[0]&0xf)*4):]
	case len(b) >= 40 && b[0]>>4 == 6:
		q.Protocol = b[6]
		q.Src = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), 0)
		q.Dst = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[24:40])), 0)
		rest = b[40:]
	}
	switch {
	case len(rest) < 8:
		return Flow{}
	case q.Protocol == TCP || q.Protocol == UDP:
		q.ports(rest)
	case (q.Protocol == ICMP || q.Protocol == ICMPv6) && q.isEcho(rest[0]):
		id := binary.BigEndian.Uint16(rest[4:])
		q.Src = netip.AddrPortFrom(q.Src.Addr(), id)
		q.Dst = netip.AddrPortFrom(q.Dst.Addr(), id)
	}
	return q.Flow
}

// offloadFits rejects what the kernel would not have sent: segments of nothing
// and checksums outside the packet.
func (p *Packet) offloadFits() bool {
	if p.Offload.Flags&needsChecksum != 0 {
		end := int(p.Offload.ChecksumStart) + int(p.Offload.ChecksumOffset) + 2
		if end > len(p.Head)+len(p.Body) {
			return false
		}
	}
	switch p.Offload.GSOType &^ gsoECN {
	case gsoNone:
		return true
	case gsoTCPv4, gsoTCPv6:
		return p.Protocol == TCP && p.Offload.SegmentLen > 0 && !p.Fragment
	case gsoUDP:
		return p.Protocol == UDP && p.Offload.SegmentLen > 0 && !p.Fragment
	}
	return false
}
