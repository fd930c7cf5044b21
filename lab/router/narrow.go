//go:build linux

package router

import (
	"net/netip"
	"time"

	"github.com/antipode-bench/antipode/lab/router/packet"
)

// Where the router's own messages come from: of the blocks that the lab keeps
// (RFC 2544, RFC 5180), and no machine's.
var (
	ownAddr4 = netip.MustParseAddr("198.18.0.254")
	ownAddr6 = netip.MustParseAddr("2001:2::fe")
)

// narrow drops what is too large for the path and must not be fragmented, and
// tells the sender if the path does so. It returns nil if that is all of the
// packet: the last segment of a super-packet may be small enough.
func (r *Router) narrow(from *endpoint, f *flight, now time.Duration) *flight {
	mtu := f.mtu()
	if mtu == 0 || f.WireLenOf(1) <= mtu || !f.DontFragment() {
		return f
	}
	if f.path.quirks.MTUICMP {
		r.complain(from, f, mtu, now)
	}
	whole := f.Segments() - 1
	if whole > 0 && f.WireLen()-f.WireLenOf(whole) <= mtu {
		r.drop(r.cut(f, whole), &f.path.count.Dropped.MTU)
		return f
	}
	r.drop(f, &f.path.count.Dropped.MTU)
	return nil
}

// mtu is the path's for the packet; 0 is no limit. A link that is narrower than
// IP allows carries its packets in pieces that nobody sees.
func (f *flight) mtu() int {
	if f.path.quirks.MTUBytes == 0 {
		return 0
	}
	return max(f.path.quirks.MTUBytes, f.MinMTU())
}

// complain sends back that the packet is too large. It takes as long as if the
// narrow place were in the middle of the way.
func (r *Router) complain(from *endpoint, f *flight, mtu int, now time.Duration) {
	own := ownAddr4
	if f.Src.Addr().Is6() {
		own = ownAddr6
	}
	b := f.TooBig(own, mtu)
	memory := r.memory.get(len(b))
	p, err := packet.Parse(packet.Offload{}, memory.bytes[:copy(memory.bytes, b)])
	if err != nil {
		r.memory.put(memory)
		return
	}
	r.schedule.add(&flight{
		Packet: p, memory: memory, path: r.path(f.to.Region, from.Region), to: from, at: now + f.path.delay,
	})
}
