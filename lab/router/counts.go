package router

import (
	"cmp"
	"slices"
	"strings"

	"github.com/antipode-bench/antipode/lab/router/packet"
)

// Tally counts packets the way a real network would have seen them: a
// super-packet as the segments it stands for.
type Tally struct {
	Packets      int64 `json:"packets"`
	Datagrams    int64 `json:"datagrams"`     // those of UDP
	Bytes        int64 `json:"bytes"`         // from the IP header on
	PayloadBytes int64 `json:"payload_bytes"` // of TCP, repeats included
}

func (t *Tally) add(p *packet.Packet) {
	t.Packets += int64(p.Segments())
	if p.Protocol == packet.UDP {
		t.Datagrams += int64(p.Segments())
	}
	t.Bytes += int64(p.WireLen())
	t.PayloadBytes += int64(p.PayloadLen())
}

// Drops counts packets that did not arrive, by reason.
type Drops struct {
	Rule    int64 `json:"rule"`    // the machine's rules don't let it in
	Queue   int64 `json:"queue"`   // a queue was full
	Loss    int64 `json:"loss"`    // the path loses packets
	Link    int64 `json:"link"`    // the machine took no more, or was gone, or the controller was cut off
	Policer int64 `json:"policer"` // they were above the policer's rate
	MTU     int64 `json:"mtu"`     // they were too large for the path
}

// PairCount is the traffic from one region to another. The controller's place
// is "".
type PairCount struct {
	From      string `json:"from"`
	To        string `json:"to"`
	Delivered Tally  `json:"delivered"` // copies included
	Copied    int64  `json:"copied"`    // packets that the path duplicated
	Dropped   Drops  `json:"dropped"`   // copies included
	Late      Late   `json:"late"`      // of the delivered
}

// CountsBetween is Counts of two regions, both ways. It holds nothing up, however
// many regions there are.
func (r *Router) CountsBetween(one, other string) (counts []PairCount) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range [][2]string{{one, other}, {other, one}} {
		if p := r.paths[key]; p != nil {
			counts = append(counts, p.count)
		}
	}
	return counts
}

// Counts returns the traffic of every directed region pair that had any,
// ordered by names, since the router began.
func (r *Router) Counts() []PairCount {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := make([]PairCount, 0, len(r.paths))
	for _, p := range r.paths {
		counts = append(counts, p.count)
	}
	slices.SortFunc(counts, func(a, b PairCount) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
	return counts
}

// FlowCounts returns both directions of every flow the router still knows, in
// no order. A flow is forgotten when it has been idle for long.
func (r *Router) FlowCounts() []FlowCount {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := make([]FlowCount, 0, 2*len(r.flows.byKey))
	for key, f := range r.flows.byKey {
		counts = append(counts, f.forth.count(key.Flow), f.back.count(key.Flow.Reverse()))
	}
	return counts
}

// Strays is the number of packets that belong to no pair: not IP, from an
// address that is not the sender's, or to one that nobody has.
func (r *Router) Strays() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.strays
}
