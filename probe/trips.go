//go:build linux

package probe

import (
	"sync"
	"time"
)

// trips is what becomes of the probes of a test.
type trips struct {
	id    sessionID
	wait  time.Duration // for each answer
	clock stopwatch

	mu         sync.Mutex
	signer     *signer
	probes     []trip
	sent       int
	over       bool // no more will be sent
	received   int  // in time
	late       int
	duplicates int // answers that came again
	arrived    set // answers, late ones too
	order      sequence
	all        chan struct{} // closed when over and every probe is answered
}

func (t *trips) init(h handshake, probes int, wait time.Duration) {
	t.id, t.signer, t.wait, t.clock = h.id, newSigner(h.key), wait, newStopwatch()
	t.probes, t.arrived, t.all = make([]trip, probes), newSet(probes), make(chan struct{})
}

// encode makes the query of a probe.
func (t *trips) encode(probe int, out []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.signer.encode(packet{kind: packetQuery, session: t.id, seq: uint32(probe)}, out)
}

// sending notes that a probe is about to be sent.
func (t *trips) sending(probe int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = probe + 1
	t.probes[probe].sent = t.clock.now()
}

// allSent says that no more probes will be, and gives a channel that is closed
// when all are answered.
func (t *trips) allSent() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.check()
	return t.all
}

func (t *trips) check() {
	if t.over && t.received == t.sent {
		close(t.all)
		t.over = false // once
	}
}

// take counts an answer to a probe of this test: as a round trip once, if it
// came within the wait.
func (t *trips) take(a arrival) { t.takeAt(a, t.clock.now()) }

func (t *trips) takeAt(a arrival, now moment) {
	ans, err := parsePacket(a.head())
	if err != nil || ans.kind != packetAnswer || ans.session != t.id || a.size != packetBytes {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if sent := int64(t.sent); int64(ans.seq) >= sent || int64(ans.number) >= sent || !t.signer.verify(a.head()) {
		return
	}
	if !t.arrived.add(ans.seq) {
		t.duplicates++
		return
	}
	t.order.see(ans.number)
	p := &t.probes[ans.seq]
	p.got, p.came, p.there, p.residence = now, a.stamp, ans.arrived, ans.residence
	if p.elapsed() > t.wait {
		t.late++
		return
	}
	p.answered = true
	t.received++
	t.check()
}

// departed notes when a query left the machine.
func (t *trips) departed(stamp int64, tail []byte) {
	q, err := parsePacket(tail)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && q.kind == packetQuery && q.session == t.id && int64(q.seq) < int64(t.sent) {
		t.probes[q.seq].left = stamp
	}
}

// lastHeard is when the latest probe that was answered was sent, the start if
// none was.
func (t *trips) lastHeard() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := t.sent - 1; i >= 0; i-- {
		if t.probes[i].answered {
			return t.clock.began.Add(t.probes[i].sent.mono)
		}
	}
	return t.clock.began.Add(t.probes[0].sent.mono)
}
