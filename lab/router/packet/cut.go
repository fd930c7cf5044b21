package packet

import (
	"encoding/binary"
	"slices"
)

// Cut takes the first n segments off p, as a packet of their own; p keeps the
// rest. n must be at least 1 and less than p.Segments. Both are valid packets
// with their own heads; the bodies stay views of the same memory.
func (p *Packet) Cut(n int) Packet {
	first := *p
	cut := n * int(p.Offload.SegmentLen)
	first.Head = slices.Clone(p.Head)
	first.Body, p.Body = p.Body[:cut:cut], p.Body[cut:]
	p.Head = slices.Clone(p.Head)
	if p.Protocol == TCP {
		seq := p.Head[p.ipLen+4:]
		binary.BigEndian.PutUint32(seq, binary.BigEndian.Uint32(seq)+uint32(cut))
		first.clearTCP(FIN | PSH) // they belong to the last segment
		p.clearTCP(CWR)           // and this to the first
	}
	if p.Head[0]>>4 == 4 {
		id := p.Head[4:]
		binary.BigEndian.PutUint16(id, binary.BigEndian.Uint16(id)+uint16(n))
	}
	first.repair()
	p.repair()
	return first
}

func (p *Packet) clearTCP(flags uint8) {
	p.TCPFlags &^= flags
	p.Head[p.ipLen+13] &^= flags
	if flags&CWR != 0 {
		p.Offload.GSOType &^= gsoECN
	}
}

// repair makes lengths, checksums and the virtio-net header fit Body. The
// transport checksum is left to the receiver, as the sender left it to us.
func (p *Packet) repair() {
	if p.Segments() == 1 {
		p.Offload.GSOType, p.Offload.SegmentLen, p.Offload.HeadLen = gsoNone, 0, 0
	} else {
		p.Offload.HeadLen = uint16(len(p.Head))
	}
	length := len(p.Head) + len(p.Body)
	transport := p.Head[p.ipLen:]
	checksumOffset := 16
	if p.Protocol == UDP {
		checksumOffset = 6
		binary.BigEndian.PutUint16(transport[4:], uint16(length-p.ipLen))
	}
	p.Offload.Flags |= needsChecksum
	p.Offload.ChecksumStart, p.Offload.ChecksumOffset = uint16(p.ipLen), uint16(checksumOffset)
	binary.BigEndian.PutUint16(transport[checksumOffset:], p.pseudoHeader(length-p.ipLen))

	if p.Head[0]>>4 == 6 {
		binary.BigEndian.PutUint16(p.Head[4:], uint16(length-40))
		return
	}
	binary.BigEndian.PutUint16(p.Head[2:], uint16(length))
	binary.BigEndian.PutUint16(p.Head[10:], 0)
	binary.BigEndian.PutUint16(p.Head[10:], ^fold(sum(p.Head[:p.ipLen])))
}

// pseudoHeader is the folded sum a partial checksum starts from (RFC 9293
// section 3.1, RFC 8200 section 8.1), for length bytes of transport.
func (p *Packet) pseudoHeader(length int) uint16 {
	addresses := p.Head[12:20]
	if p.Head[0]>>4 == 6 {
		addresses = p.Head[8:40]
	}
	return fold(sum(addresses) + uint64(p.Protocol) + uint64(length))
}

// sum adds 16-bit words; an odd last byte is the high half of a word.
func sum(b []byte) uint64 {
	var s uint64
	for ; len(b) >= 2; b = b[2:] {
		s += uint64(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	return s
}

func fold(s uint64) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}
