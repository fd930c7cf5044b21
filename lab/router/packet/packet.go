package packet

import "net/netip"

// Protocol numbers, from the IANA registry.
const (
	ICMP   = 1
	TCP    = 6
	UDP    = 17
	ICMPv6 = 58
)

// TCP flags, from RFC 9293 section 3.1.
const (
	FIN = 1 << 0
	SYN = 1 << 1
	RST = 1 << 2
	PSH = 1 << 3
	ACK = 1 << 4
	CWR = 1 << 7
)

// Flow names a stream of packets in one direction. ICMP echoes carry their
// identifier as both ports; what has no ports has zeros.
type Flow struct {
	Protocol uint8          `json:"protocol"`
	Src      netip.AddrPort `json:"src"`
	Dst      netip.AddrPort `json:"dst"`
}

// Reverse is the flow of the answers.
func (f Flow) Reverse() Flow { return Flow{f.Protocol, f.Dst, f.Src} }

// Packet is one IP packet, or a super-packet that stands for several. Head and
// Body are views of the memory it was parsed from, until Cut gives it a head
// of its own.
type Packet struct {
	Flow
	Offload  Offload
	Head     []byte // IP header, and transport header where there is one
	Body     []byte // the rest
	TCPFlags uint8

	// About is the flow an ICMP error complains of, as its sender sent it.
	// Its protocol is 0 if the packet is no such error.
	About Flow

	// Fragment says that the packet is a part of a larger one; all but the
	// first part have no ports. FragmentID is the same in all of them.
	Fragment   bool
	FragmentID uint32

	ipLen int // bytes of the IP header in Head
}

// Segments is how many packets it stands for on a real network, at least 1.
func (p *Packet) Segments() int {
	if p.Offload.GSOType == gsoNone {
		return 1
	}
	size := int(p.Offload.SegmentLen)
	return max(1, (len(p.Body)+size-1)/size)
}

// WireLen is the bytes of all its segments from their IP headers on.
func (p *Packet) WireLen() int { return len(p.Body) + p.Segments()*len(p.Head) }

// WireLenOf is WireLen of its first n segments.
func (p *Packet) WireLenOf(n int) int {
	if n >= p.Segments() {
		return p.WireLen()
	}
	return n * (len(p.Head) + int(p.Offload.SegmentLen))
}

// SegmentsIn is how many of its segments, from the first on, fit into n bytes.
func (p *Packet) SegmentsIn(n int) int {
	switch {
	case n >= p.WireLen():
		return p.Segments()
	case p.Segments() == 1 || n < 0:
		return 0
	}
	return min(n/p.WireLenOf(1), p.Segments()-1)
}

// PayloadLen is the bytes of TCP payload, without repeats of headers; 0 for
// other protocols.
func (p *Packet) PayloadLen() int {
	if p.Protocol != TCP {
		return 0
	}
	return len(p.Body)
}
