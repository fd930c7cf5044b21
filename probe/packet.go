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
)

// packet is one RTT probe or its answer. On the wire: magic (4), version,
// kind, 2 zero bytes, session id (16), sequence number (4), 4 zero bytes,
// residence in nanoseconds (8), 8 zero bytes, MAC (16).
type packet struct {
	kind      byte
	session   sessionID
	seq       uint32
	residence time.Duration // of the query at the responder; 0 in queries
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
	binary.BigEndian.PutUint64(b[32:], uint64(p.residence))
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
	p.residence = time.Duration(binary.BigEndian.Uint64(b[32:]))
	zero := binary.BigEndian.Uint16(b[6:]) == 0 && binary.BigEndian.Uint32(b[28:]) == 0 && binary.BigEndian.Uint64(b[40:]) == 0
	query := p.kind == packetQuery && p.residence == 0
	answer := p.kind == packetAnswer && p.residence >= 0
	if !zero || !query && !answer {
		return p, errPacket
	}
	return p, nil
}
