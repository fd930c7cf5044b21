//go:build linux

package router

import (
	"net/netip"
	"time"

	"github.com/antipode-bench/antipode/lab/router/packet"
)

// ownAddr is where the router's own messages come from: of the block that the
// lab keeps (RFC 2544), and no machine's.
var ownAddr = netip.AddrFrom4([4]byte{198, 18, 0, 254})

// narrow drops what is too large for the path and must not be fragmented, and
// tells the sender if the path does so. It returns nil if that is all of the
// packet: the last segment of a super-packet may be small enough.
func (r *Router) narrow(from *endpoint, f *flight, now time.Duration) *flight {
	mtu := f.path.quirks.MTUBytes
	if mtu == 0 || f.WireLenOf(1) <= mtu || !f.DontFragment() {
		return f
	}
	if f.path.quirks.MTUICMP {
		r.complain(from, f, now)
	}
	whole := f.Segments() - 1
	if whole > 0 && f.WireLen()-f.WireLenOf(whole) <= mtu {
		r.drop(r.cut(f, whole), &f.path.count.Dropped.MTU)
		return f
	}
	r.drop(f, &f.path.count.Dropped.MTU)
	return nil
}

// complain sends back that fragmentation is needed. It takes as long as if the
// narrow place were in the middle of the way.
func (r *Router) complain(from *endpoint, f *flight, now time.Duration) {
	b := f.TooBig(ownAddr, f.path.quirks.MTUBytes)
	if b == nil {
		return
	}
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
