//go:build linux

package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/probe/wire"
)

// stranger opens a connection to a server and says something.
func stranger(t *testing.T, s *Server, say []byte) *net.TCPConn {
	t.Helper()
	conn, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: s.Port()})
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err = conn.Write(say)
	must(t, err)
	return conn
}

func TestStrangersGetNothing(t *testing.T) {
	s, _ := startServer(t)
	data := hello{kind: helloData, token: [32]byte{1}}
	tests := []struct {
		name string
		say  []byte
	}{
		{"HTTP", []byte("GET / HTTP/1.1\r\n\r\n")},
		{"almost the magic", []byte("antipodX")},
		{"another version", append([]byte("antipode\xff"), make([]byte, 55)...)},
		{"unknown kind", hello{kind: 'X'}.encode()},
		{"control with a session", hello{kind: helloControl, session: sessionID{1}}.encode()},
		{"data of no session", data.encode()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			again(t, func() (wrong string) {
				began := time.Now()
				got, _ := io.ReadAll(stranger(t, s, tt.say))
				if len(got) > 0 {
					t.Errorf("got %q", got)
				}
				if took := time.Since(began); took > handshakeTimeout/2 {
					return fmt.Sprintf("ended after %v, not at once", took)
				}
				return ""
			})
		})
	}
}

// TestNoReflector: before it has proof the server sends no more than it got.
func TestNoReflector(t *testing.T) {
	s, _ := startServer(t)
	say := hello{kind: helloControl, token: newNonce()}.encode()
	conn := stranger(t, s, say)
	must(t, conn.CloseWrite())
	got, err := io.ReadAll(conn)
	if err != nil && !strings.Contains(err.Error(), "reset") || len(got) > len(say) {
		t.Errorf("got %d bytes for %d, %v", len(got), len(say), err)
	}
}

func TestWrongSecret(t *testing.T) {
	s, peer := startServer(t)
	req := wire.Throughput{Peer: peer, Bytes: 1000, Streams: 1, DeadlineMs: deadlineMs}
	_, err := NewClient(bytes.Repeat([]byte{9}, wire.SecretBytes)).Throughput(t.Context(), req)
	if !errors.Is(err, errStranger) {
		t.Errorf("a client without the secret: %v", err)
	}
	// And the other way round: a proof that is made up.
	conn := stranger(t, s, hello{kind: helloControl, token: newNonce()}.encode())
	must(t, readFull(conn, make([]byte, 64)))
	_, err = conn.Write(make([]byte, macBytes))
	must(t, err)
	if got, _ := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("a made-up proof is answered %q", got)
	}
}

// TestReplay says again what an honest client said before.
func TestReplay(t *testing.T) {
	s, _ := startServer(t)
	c := NewClient(testSecret)
	conn := stranger(t, s, nil)
	taped := &tape{TCPConn: conn}
	mine := newNonce()
	taped.Write(hello{kind: helloControl, token: mine}.encode())
	var theirs nonce
	must(t, readFull(conn, theirs[:], make([]byte, macBytes)))
	h := newHandshake(c.secret, mine, theirs)
	taped.Write(h.client[:])
	ctl, err := newControl(conn, h, maxControlLine)
	must(t, err)
	must(t, ctl.place(order{Receive: &receiveOrder{Streams: 1}, DeadlineMs: deadlineMs}, time.Now().Add(patience)))

	data := hello{kind: helloData, session: h.id, token: streamProof(h.key, "data", 0)}.encode()
	first := stranger(t, s, data)
	must(t, readFull(first, make([]byte, macBytes)))
	if got, _ := io.ReadAll(stranger(t, s, data)); len(got) > 0 {
		t.Error("a data connection was let in twice")
	}
	again := stranger(t, s, taped.said.Bytes())
	got, _ := io.ReadAll(again)
	if len(got) > helloBytes {
		t.Errorf("a replayed proof got %d bytes", len(got))
	}
	conn.Close()
	waitFor(t, func() bool { return sessions(s) == 0 })
	if got, _ := io.ReadAll(stranger(t, s, data)); len(got) > 0 {
		t.Error("a data connection was let into a session that has ended")
	}
}

// tape keeps what is written.
type tape struct {
	*net.TCPConn
	said bytes.Buffer
}

func (t *tape) Write(b []byte) (int, error) {
	t.said.Write(b)
	return t.TCPConn.Write(b)
}

// TestBadOrders come from peers that hold the secret and lie.
func TestBadOrders(t *testing.T) {
	_, peer := startServer(t)
	addr, err := addrPort(peer)
	must(t, err)
	tests := []struct {
		name string
		o    order
		want string
	}{
		{"nothing", order{DeadlineMs: 1000}, "one of receive, send, echo"},
		{"both", order{Receive: &receiveOrder{Streams: 1}, Echo: &echoOrder{1}, DeadlineMs: 1000}, "one of receive, send, echo"},
		{"a million streams", order{Receive: &receiveOrder{Streams: 1e6}, DeadlineMs: 1000}, "1000000 streams"},
		{"no probes", order{Echo: &echoOrder{0}, DeadlineMs: 1000}, "0 probes"},
		{"for ever", order{Echo: &echoOrder{1}, DeadlineMs: 1e12}, "deadline_ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewClient(testSecret).open(t.Context(), addr, tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("open = %v, want %q", err, tt.want)
			}
		})
	}
}

// TestThousandStrangers keep their connections open and say nothing.
func TestThousandStrangers(t *testing.T) {
	s, peer := startServer(t)
	for range 1000 {
		stranger(t, s, nil)
	}
	req := wire.Throughput{Peer: peer, Bytes: 1_000_000, Streams: 8, DeadlineMs: deadlineMs}
	r, err := NewClient(testSecret).Throughput(t.Context(), req)
	must(t, err)
	checkResult(t, req, r)
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	if n := len(s.pending.conns); n > maxPending {
		t.Errorf("%d connections are pending", n)
	}
}

func FuzzHello(f *testing.F) {
	f.Add(hello{kind: helloControl, token: newNonce()}.encode())
	f.Add(hello{kind: helloData, stream: 7, session: sessionID{3}}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHello(b)
		if err == nil && !bytes.Equal(h.encode(), b) {
			t.Errorf("%x became %x", b, h.encode())
		}
	})
}
