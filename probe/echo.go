//go:build linux

package probe

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// echo is one client's permission to be answered.
type echo struct {
	id     sessionID
	addr   netip.Addr // of the client: answers go nowhere else
	signer *signer

	seen     []uint64 // bit set of sequence numbers answered
	limit    uint32   // sequence numbers are below it
	answered int
}

// echoes answers the packets of all sessions of a server.
type echoes struct {
	knocks knocks // they come to the same socket

	mu sync.Mutex // guards everything below, also in the sessions
	by map[sessionID]*echo
}

func (e *echoes) add(s *echo) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.by) >= maxSessions {
		return errors.New("busy with other round-trip tests")
	}
	if e.by == nil {
		e.by = map[sessionID]*echo{}
	}
	e.by[s.id] = s
	return nil
}

// remove ends a session and says how many packets it answered.
func (e *echoes) remove(id sessionID) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer delete(e.by, id)
	if s := e.by[id]; s != nil {
		return s.answered
	}
	return 0
}

// serve answers until the socket is closed.
func (e *echoes) serve(conn *net.UDPConn) error {
	in := newInbox(conn)
	out := make([]byte, packetBytes)
	for {
		a, err := in.next()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil { // of one packet: the next may be better
			time.Sleep(time.Millisecond)
			continue
		}
		if e.knocks.take(a.data, a.from) {
			continue
		}
		if e.answer(a, out) {
			conn.WriteMsgUDPAddrPort(out, a.reply, a.from) // lost if it fails, as any packet
		}
	}
}

// answer fills out for a valid query of a session's own address, each once.
func (e *echoes) answer(a arrival, out []byte) bool {
	q, err := parsePacket(a.data)
	if err != nil || q.kind != packetQuery {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.by[q.session]
	if s == nil || s.addr != a.from.Addr().Unmap() || q.seq >= s.limit || !s.signer.verify(a.data) || !s.once(q.seq) {
		return false
	}
	reply := packet{kind: packetAnswer, session: q.session, seq: q.seq}
	if !a.stamp.IsZero() {
		reply.residence = max(0, time.Since(a.stamp)) // negative when the clock was set back
	}
	s.signer.encode(reply, out)
	s.answered++
	return true
}

// once is true the first time for each number.
func (s *echo) once(seq uint32) bool {
	word, bit := seq/64, uint64(1)<<(seq%64)
	if s.seen[word]&bit != 0 {
		return false
	}
	s.seen[word] |= bit
	return true
}

// echo runs a round-trip session until the client is done or gone. The session
// is bounded by the deadline that closes its connection.
func (s *Server) echo(ctl *control, o echoOrder) error {
	err := s.echoes.add(&echo{
		id:     ctl.id,
		addr:   remoteAddr(ctl.conn),
		signer: newSigner(ctl.key),
		seen:   make([]uint64, (o.Probes+63)/64),
		limit:  uint32(o.Probes),
	})
	if err != nil {
		return err
	}
	defer s.echoes.remove(ctl.id)
	if err := ctl.out.Write(news{Ready: true}); err != nil {
		return err
	}
	if err := ctl.in.Read(new(done)); err != nil {
		return gone(err)
	}
	n := s.echoes.remove(ctl.id)
	return ctl.out.Write(news{Echoed: &n})
}
