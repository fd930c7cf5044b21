//go:build linux

package probe

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// maxSizes is how many sized queries a session may hold.
const maxSizes = 1024

// echo is one client's permission to be answered.
type echo struct {
	id     sessionID
	addr   netip.Addr // of the client, without its zone: answers go nowhere else
	signer *signer
	limit  uint32 // sequence numbers are below it

	seen, sizes set // sequence numbers answered, of queries and of sized queries
	answered    uint32
	duplicates  int // queries that came again
	order       sequence

	// held is the time from a query's arrival in the kernel to its answer's
	// departure, by sequence number, in ns; 0 if it is not known.
	held []uint32
	// sending is the time from the call that sends an answer to its departure, in
	// ns, of those answers of which it is known.
	sending []uint32
}

func newEcho(ctl *control, o echoOrder) *echo {
	return &echo{
		id:     ctl.id,
		addr:   remoteAddr(ctl.conn).WithZone(""),
		signer: newSigner(ctl.key),
		limit:  uint32(o.Probes),
		seen:   newSet(o.Probes),
		sizes:  newSet(maxSizes),
		held:   make([]uint32, o.Probes),
	}
}

// echoes answers the packets of all sessions of a server.
type echoes struct {
	out     []byte // the latest answer, which only serve touches
	leaving moment // when it was sent
	knocks  knocks // they come to the same socket
	clock   stopwatch

	mu   sync.Mutex // guards everything below, also in the sessions
	wall vigil
	by   map[sessionID]*echo
}

func newEchoes() *echoes {
	return &echoes{out: make([]byte, packetBytes), clock: newStopwatch(), by: map[sessionID]*echo{}}
}

func (e *echoes) add(s *echo) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.by) >= maxSessions {
		return errors.New("busy with other round-trip tests")
	}
	e.by[s.id] = s
	return nil
}

// remove ends a session: nothing else touches it any more.
func (e *echoes) remove(id sessionID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.by, id)
}

// clockWasSet says whether the wall clock was, since the server began.
func (e *echoes) clockWasSet() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wall.ever
}

// serve answers until the socket is closed.
func (e *echoes) serve(socket *solo) error {
	socket.departed = e.departed
	socket.use(context.Background(), func() error { // fails only if it is closed before
		for !socket.over() {
			socket.take(func(a arrival) { e.serveOne(socket, a) })
			socket.wait(time.Time{})
		}
		return nil
	})
	return nil
}

func (e *echoes) serveOne(socket *solo, a arrival) {
	if !e.knocks.take(a.data, a.from) && e.answer(a, e.out) {
		e.leaving = e.clock.now()
		socket.send(e.out, a.reply, a.back) // lost if it fails, as any packet
	}
}

// answer fills out for a valid query of a session's own address, each once.
func (e *echoes) answer(a arrival, out []byte) bool {
	q, err := parsePacket(a.head())
	if err != nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.by[q.session]
	if s == nil || s.addr != a.from.Addr().Unmap().WithZone("") || !s.signer.verify(a.head()) {
		return false
	}
	var reply packet
	switch {
	case q.kind == packetQuery && a.size == packetBytes && q.seq < s.limit:
		reply = s.answer(q, a.stamp, e.timed(a.stamp))
	case q.kind == packetSized && a.size == int(q.number) && a.fragment == 0 && q.seq < maxSizes && s.sizes.add(q.seq):
		reply = packet{kind: packetFits, session: s.id, seq: q.seq}
	}
	if reply.kind == 0 {
		return false
	}
	s.signer.encode(reply, out)
	return true
}

// answer is of kind 0 for a query that was answered.
func (s *echo) answer(q packet, stamp int64, residence time.Duration) packet {
	if !s.seen.add(q.seq) {
		s.duplicates++
		return packet{}
	}
	s.order.see(q.seq)
	reply := packet{kind: packetAnswer, session: s.id, seq: q.seq, number: s.answered}
	s.answered++
	if residence > 0 {
		reply.residence, reply.arrived = residence, stamp
	}
	return reply
}

// timed is how long ago a stamp is, 0 if there is none or the clock is in doubt.
func (e *echoes) timed(stamp int64) time.Duration {
	now := e.clock.now()
	if !e.wall.trusts(now) || stamp == 0 {
		return 0
	}
	return max(0, time.Duration(now.wall-stamp))
}

// departed notes how long a query was held, when its answer has left.
func (e *echoes) departed(stamp int64, tail []byte) {
	p, err := parsePacket(tail)
	if err != nil || p.kind != packetAnswer || p.arrived == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.by[p.session]
	held := stamp - p.arrived
	if s == nil || p.seq >= s.limit || !e.wall.trusts(e.clock.now()) || held <= 0 || held > math.MaxUint32 {
		return
	}
	s.held[p.seq] = uint32(held)
	if took := stamp - e.leaving.wall; took > 0 && took < held && bytes.Equal(tail, e.out) {
		s.sending = append(s.sending, uint32(took))
	}
}

// heldPerLine keeps a line of news below maxControlLine.
const heldPerLine = 4096

// echo runs a round-trip session until the client is done or gone. The session
// is bounded by the deadline that closes its connection.
func (s *Server) echo(ctl *control, o echoOrder) error {
	e := newEcho(ctl, o)
	if err := s.echoes.add(e); err != nil {
		return err
	}
	defer s.echoes.remove(ctl.id)
	if err := ctl.out.Write(news{Ready: true}); err != nil {
		return err
	}
	if err := ctl.in.Read(new(done)); err != nil {
		return gone(err)
	}
	s.echoes.remove(ctl.id)
	for part := range slices.Chunk(e.held, heldPerLine) {
		if err := ctl.out.Write(news{Held: part}); err != nil {
			return err
		}
	}
	return ctl.out.Write(news{Echoed: e.told(ctl, s.echoes.clockWasSet())})
}

// leastOf is the lowest tenth of values, 0 of nothing.
func leastOf(values []uint32) uint32 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[len(values)/10]
}

// told is the responder's last word on a session that has ended.
func (s *echo) told(ctl *control, clockSet bool) *echoed {
	errorUs := int64(-1)
	if bound, ok := clockError(); ok {
		errorUs = bound.Microseconds()
	}
	return &echoed{
		Answered: int(s.answered), Duplicates: s.duplicates, Reordered: s.order.reordered,
		SendingNs: leastOf(s.sending), ClockSet: clockSet, ClockErrorUs: errorUs,
		Client: s.addr.String(), Own: ownAddr(ctl.conn).String(),
	}
}
