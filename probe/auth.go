//go:build linux

package probe

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// What the first eight bytes of every connection say.
const magic = "antipode"

const protocolVersion = 2

// Kinds of connection.
const (
	helloControl = 'C'
	helloData    = 'D'
)

const (
	helloBytes = 64
	macBytes   = sha256.Size
	nonceBytes = 32
)

var (
	errNoProbe  = errors.New("peer speaks another protocol")
	errStranger = errors.New("peer does not hold the run's secret")
)

type (
	nonce     [nonceBytes]byte
	sessionID [16]byte
	mac       [macBytes]byte
)

// hello opens a connection. On the wire: magic, version, kind, stream number
// (2 bytes), 4 zero bytes, session id (16), token (32).
type hello struct {
	kind    byte
	stream  uint16    // of a data connection
	session sessionID // of a data connection
	token   [32]byte  // control: the client's nonce; data: the proof
}

func (h hello) encode() []byte {
	b := make([]byte, 0, helloBytes)
	b = append(b, magic...)
	b = append(b, protocolVersion, h.kind)
	b = binary.BigEndian.AppendUint16(b, h.stream)
	b = append(b, 0, 0, 0, 0)
	b = append(b, h.session[:]...)
	return append(b, h.token[:]...)
}

func parseHello(b []byte) (h hello, err error) {
	if len(b) != helloBytes || string(b[:8]) != magic || binary.BigEndian.Uint32(b[12:]) != 0 {
		return h, errNoProbe
	}
	if b[8] != protocolVersion {
		return h, errors.New("peer speaks another version of the protocol")
	}
	h.kind, h.stream = b[9], binary.BigEndian.Uint16(b[10:])
	copy(h.session[:], b[16:])
	copy(h.token[:], b[32:])
	control := h.kind == helloControl && h.stream == 0 && h.session == sessionID{}
	if !control && h.kind != helloData {
		return h, errNoProbe
	}
	return h, nil
}

func newNonce() (n nonce) {
	rand.Read(n[:]) // never fails
	return n
}

// sign returns HMAC-SHA256 of the label, a zero byte and the parts, whose
// lengths the label fixes.
func sign(key []byte, label string, parts ...[]byte) (m mac) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(label))
	h.Write([]byte{0})
	for _, p := range parts {
		h.Write(p)
	}
	h.Sum(m[:0])
	return m
}

// handshake is what both sides of a control connection can compute once they
// know both nonces.
type handshake struct {
	server, client mac // the proofs
	key            mac // of the session
	id             sessionID
}

func newHandshake(secret []byte, client, server nonce) handshake {
	h := handshake{
		server: sign(secret, "server", client[:], server[:]),
		client: sign(secret, "client", client[:], server[:]),
		key:    sign(secret, "session", client[:], server[:]),
	}
	id := sign(h.key[:], "id")
	copy(h.id[:], id[:])
	return h
}

func streamProof(key mac, label string, stream uint16) mac {
	return sign(key[:], label, binary.BigEndian.AppendUint16(nil, stream))
}

func (m mac) equal(other []byte) bool { return hmac.Equal(m[:], other) }
