//go:build linux

package probe

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"time"
)

const (
	packetBytes  = 64
	packetMagic  = "aprb"
	packetMac    = 16 // bytes of the MAC that are sent
	packetSigned = packetBytes - packetMac
)

// Kinds of packet.
const (
	packetQuery  = 'Q'
	packetAnswer = 'A'
	// packetSized is a query that more bytes follow, to learn whether a path
	// carries packets of its size; packetFits is the answer, without them.
	packetSized = 'S'
	packetFits  = 'F'
)

// packet is one RTT probe or its answer. On the wire: magic (4), version,
// kind, 2 zero bytes, session id (16), sequence number (4), number (4),
// residence in nanoseconds (8), arrival in nanoseconds since 1970 (8), MAC (16).
type packet struct {
	kind    byte
	session sessionID
	seq     uint32

	// In an answer: how many the responder has sent in the session, so that the
	// order they left in is known. In a sized query: its UDP payload in bytes.
	number uint32

	residence time.Duration // of the query at the responder; 0 in queries, and if it is not known
	arrived   int64         // when the query reached the responder, by its kernel's wall clock, ns; likewise
}

var errPacket = errors.New("not a packet of this session")

// signer makes and checks the MACs of a session's packets. It is not safe for
// concurrent use.
type signer struct {
	hash hash.Hash
	sum  []byte
}

func newSigner(key mac) *signer {
	return &signer{hash: hmac.New(sha256.New, key[:]), sum: make([]byte, 0, macBytes)}
}

func (s *signer) mac(b []byte) []byte {
	s.hash.Reset()
	s.hash.Write([]byte("packet\x00"))
	s.hash.Write(b)
	s.sum = s.hash.Sum(s.sum[:0])
	return s.sum[:packetMac]
}

// encode writes p into b, which holds packetBytes.
func (s *signer) encode(p packet, b []byte) {
	clear(b)
	copy(b, packetMagic)
	b[4], b[5] = protocolVersion, p.kind
	copy(b[8:], p.session[:])
	binary.BigEndian.PutUint32(b[24:], p.seq)
	binary.BigEndian.PutUint32(b[28:], p.number)
	binary.BigEndian.PutUint64(b[32:], uint64(p.residence))
	binary.BigEndian.PutUint64(b[40:], uint64(p.arrived))
	copy(b[packetSigned:], s.mac(b[:packetSigned]))
}

// verify is true for what encode made with the same key.
func (s *signer) verify(b []byte) bool {
	return len(b) == packetBytes && hmac.Equal(s.mac(b[:packetSigned]), b[packetSigned:])
}

// parsePacket does not check the MAC: the session, which it reads, has the key.
func parsePacket(b []byte) (p packet, err error) {
	if len(b) != packetBytes || string(b[:4]) != packetMagic || b[4] != protocolVersion {
		return p, errPacket
	}
	p.kind = b[5]
	copy(p.session[:], b[8:])
	p.seq = binary.BigEndian.Uint32(b[24:])
	p.number = binary.BigEndian.Uint32(b[28:])
	p.residence = time.Duration(binary.BigEndian.Uint64(b[32:]))
	p.arrived = int64(binary.BigEndian.Uint64(b[40:]))
	if binary.BigEndian.Uint16(b[6:]) != 0 || !p.sound() {
		return p, errPacket
	}
	return p, nil
}

// sound is true for what a packet of its kind may say.
func (p packet) sound() bool {
	untimed := p.residence == 0 && p.arrived == 0
	switch p.kind {
	case packetQuery, packetFits:
		return untimed && p.number == 0
	case packetSized:
		return untimed && p.number >= packetBytes
	case packetAnswer:
		return p.residence >= 0 && p.arrived >= 0
	}
	return false
}
