package router

import (
	"container/list"
	"net/netip"
	"slices"
	"time"

	"github.com/antipode-bench/antipode/lab/router/packet"
	"github.com/antipode-bench/antipode/lab/vm"
)

// Idle times after which a flow is forgotten, in the range of what the clouds
// document. An answer that comes later needs a rule.
const (
	tcpIdle        = time.Hour
	tcpHalfIdle    = time.Minute // opening or closing
	datagramIdle   = 2 * time.Minute
	unansweredIdle = 30 * time.Second
)

const (
	// maxFlows bounds the table; the flow longest idle goes first.
	maxFlows = 1 << 16
	// maxFragments bounds the fragmented packets known at a time. When there
	// are more all are forgotten, which costs the ones on their way.
	maxFragments = 4096
)

// flow is what two endpoints say to each other: one 5-tuple, both ways.
type flow struct {
	key         flowKey
	forth, back half // from the opener, and to it
	admitted    bool // the other side's rules let it in, or it answered
	answered    bool
	closing     bool
	seen        time.Duration
	place       *list.Element
}

// flowKey is a flow as its opener sends it, in the network it is private to.
type flowKey struct {
	packet.Flow
	network string
}

func (k flowKey) reverse() flowKey { return flowKey{k.Flow.Reverse(), k.network} }

type fragmentKey struct {
	packet.Flow // without ports
	id          uint32
}

// flowTable remembers flows, so that answers pass without a rule.
type flowTable struct {
	byKey     map[flowKey]*flow
	byUse     *list.List // of *flow, the latest used in front
	fragments map[fragmentKey]*half
}

func newFlowTable() flowTable {
	return flowTable{
		byKey: make(map[flowKey]*flow), byUse: list.New(),
		fragments: make(map[fragmentKey]*half),
	}
}

// admit decides whether a packet may pass to an endpoint with the rules. It
// returns the half of the flow the packet belongs to, nil if it is none's.
func (t *flowTable) admit(p *packet.Packet, from *endpoint, rules []vm.Rule, now time.Duration) (*half, bool) {
	network := scoped(from.network(), p.Dst.Addr()).network
	switch {
	case p.About.Protocol != 0:
		return nil, t.concerns(p, network, now) || allow(rules, p)
	case p.Fragment && p.Dst.Port() == 0:
		h, known := t.fragments[fragmentOf(p)]
		return h, known
	}
	h, ok := t.track(flowKey{p.Flow, network}, p, rules, now)
	if ok && p.Fragment {
		t.expect(fragmentOf(p), h)
	}
	return h, ok
}

// track finds or begins the packet's flow.
func (t *flowTable) track(key flowKey, p *packet.Packet, rules []vm.Rule, now time.Duration) (*half, bool) {
	if f := t.find(key.reverse(), now); f != nil {
		f.answered, f.admitted = true, true
		t.use(f, p, now)
		return &f.back, true
	}
	f := t.find(key, now)
	if f == nil {
		f = t.begin(key)
	}
	f.admitted = f.admitted || allow(rules, p)
	t.use(f, p, now)
	return &f.forth, f.admitted
}

// concerns reports whether an ICMP error is about a flow of its receiver.
func (t *flowTable) concerns(p *packet.Packet, network string, now time.Duration) bool {
	about := flowKey{p.About, network}
	return p.About.Src.Addr() == p.Dst.Addr() &&
		(t.find(about, now) != nil || t.find(about.reverse(), now) != nil)
}

// find returns a flow that is not idle for too long.
func (t *flowTable) find(key flowKey, now time.Duration) *flow {
	f := t.byKey[key]
	if f != nil && now-f.seen > f.idleLimit() {
		t.remove(f)
		return nil
	}
	return f
}

func (f *flow) idleLimit() time.Duration {
	switch {
	case f.key.Protocol == packet.TCP && f.answered && !f.closing:
		return tcpIdle
	case f.key.Protocol == packet.TCP:
		return tcpHalfIdle
	case f.answered:
		return datagramIdle
	}
	return unansweredIdle
}

func (t *flowTable) begin(key flowKey) *flow {
	if len(t.byKey) >= maxFlows {
		t.remove(t.byUse.Back().Value.(*flow))
	}
	f := &flow{key: key}
	f.place = t.byUse.PushFront(f)
	t.byKey[key] = f
	return f
}

func (t *flowTable) use(f *flow, p *packet.Packet, now time.Duration) {
	f.seen = now
	switch {
	case p.TCPFlags&packet.SYN != 0:
		f.closing = false // the ports are used again
	case p.TCPFlags&(packet.FIN|packet.RST) != 0:
		f.closing = true
	}
	t.byUse.MoveToFront(f.place)
}

func (t *flowTable) remove(f *flow) {
	delete(t.byKey, f.key)
	t.byUse.Remove(f.place)
}

// forget removes every flow of an endpoint: its addresses may become another's.
func (t *flowTable) forget(e *endpoint) {
	for key, f := range t.byKey {
		mine := slices.Contains(e.Addrs, key.Src.Addr()) || slices.Contains(e.Addrs, key.Dst.Addr())
		if mine && (key.network == "" || key.network == e.network()) {
			t.remove(f)
		}
	}
}

func fragmentOf(p *packet.Packet) fragmentKey {
	portless := packet.Flow{
		Protocol: p.Protocol,
		Src:      netip.AddrPortFrom(p.Src.Addr(), 0),
		Dst:      netip.AddrPortFrom(p.Dst.Addr(), 0),
	}
	return fragmentKey{portless, p.FragmentID}
}

// expect lets the other fragments of a packet pass.
func (t *flowTable) expect(k fragmentKey, h *half) {
	if len(t.fragments) >= maxFragments {
		clear(t.fragments)
	}
	t.fragments[k] = h
}
