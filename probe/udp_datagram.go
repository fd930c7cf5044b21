//go:build linux

package probe

import (
	"crypto/hmac"
	"encoding/binary"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// datagramHeader is what every datagram of a UDP throughput test begins with,
// also those that the kernels carry together. On the wire: tag (8), sequence
// number (8), sending time in nanoseconds of the sender's own clock (8). The
// rest of a datagram is filler.
type datagramHeader struct {
	seq  uint64 // from 0; with trialBit it is no part of the test
	sent time.Duration
}

const datagramHeaderBytes = wire.MinDatagramBytes

// trialBit marks datagrams that only show whether their size gets through.
const trialBit = 1 << 63

// datagramTag marks the datagrams of a session: a capability, known to its two
// ends and whoever sees them pass. A MAC over each would cost more than sending
// it, and protect a count from nobody but those on the path, who can drop
// datagrams as well as forge them.
type datagramTag uint64

func newDatagramTag(key mac) datagramTag {
	m := sign(key[:], "datagram")
	return datagramTag(binary.BigEndian.Uint64(m[:]))
}

// put writes the header at the beginning of b.
func (t datagramTag) put(b []byte, h datagramHeader) {
	b = b[:datagramHeaderBytes]
	binary.BigEndian.PutUint64(b, uint64(t))
	binary.BigEndian.PutUint64(b[8:], h.seq)
	binary.BigEndian.PutUint64(b[16:], uint64(h.sent))
}

// read is false for what is no datagram of the session.
func (t datagramTag) read(b []byte) (datagramHeader, bool) {
	if len(b) < datagramHeaderBytes || datagramTag(binary.BigEndian.Uint64(b)) != t {
		return datagramHeader{}, false
	}
	return datagramHeader{
		seq:  binary.BigEndian.Uint64(b[8:]),
		sent: time.Duration(binary.BigEndian.Uint64(b[16:])),
	}, true
}

// helloKnock is the kind of the hello that shows a server, on its UDP port, from
// which port a session's datagrams will come: an address translator may have
// given them another one than they left from.
const helloKnock = 'U'

func newKnock(id sessionID, key mac) []byte {
	return hello{kind: helloKnock, session: id, token: sign(key[:], "knock")}.encode()
}

// knockOf is the session that b claims to knock for.
func knockOf(b []byte) (id sessionID, ok bool) {
	if len(b) != helloBytes || string(b[:len(magic)]) != magic || b[9] != helloKnock {
		return id, false
	}
	copy(id[:], b[16:])
	return id, true
}

func isKnock(b []byte, id sessionID, key mac) bool { return hmac.Equal(b, newKnock(id, key)) }
