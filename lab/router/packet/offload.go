package packet

import "encoding/binary"

// OffloadLen is the size of the virtio-net header in bytes.
const OffloadLen = 10

// Kinds of super-packets, from the virtio specification 1.3, section 5.1.6.
const (
	gsoNone  = 0
	gsoTCPv4 = 1
	gsoTCPv6 = 4
	gsoUDP   = 5
	gsoECN   = 0x80 // with TCP: the congestion window reduced flag is set
)

const needsChecksum = 1

// Offload is the virtio-net header before a packet: what the kernel left to
// the network card. Offsets count from the IP header.
type Offload struct {
	Flags, GSOType                uint8
	HeadLen, SegmentLen           uint16 // bytes of headers; of payload per segment
	ChecksumStart, ChecksumOffset uint16
}

// DecodeOffload reads a virtio-net header in front of a frame whose IP header
// begins linkLen bytes after its start. b holds at least OffloadLen bytes.
func DecodeOffload(b []byte, linkLen uint16) Offload {
	o := Offload{
		Flags: b[0], GSOType: b[1],
		HeadLen:        binary.NativeEndian.Uint16(b[2:]),
		SegmentLen:     binary.NativeEndian.Uint16(b[4:]),
		ChecksumStart:  binary.NativeEndian.Uint16(b[6:]),
		ChecksumOffset: binary.NativeEndian.Uint16(b[8:]),
	}
	o.shift(-linkLen)
	return o
}

// Encode undoes DecodeOffload.
func (o Offload) Encode(b []byte, linkLen uint16) {
	o.shift(linkLen)
	b[0], b[1] = o.Flags, o.GSOType
	binary.NativeEndian.PutUint16(b[2:], o.HeadLen)
	binary.NativeEndian.PutUint16(b[4:], o.SegmentLen)
	binary.NativeEndian.PutUint16(b[6:], o.ChecksumStart)
	binary.NativeEndian.PutUint16(b[8:], o.ChecksumOffset)
}

// shift moves the offsets that are in use.
func (o *Offload) shift(by uint16) {
	if o.Flags&needsChecksum != 0 {
		o.ChecksumStart += by
	}
	if o.GSOType != gsoNone {
		o.HeadLen += by
	}
}
