//go:build linux

package router

import (
	"net/netip"
	"slices"

	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/world"
)

// endpoint is an attached machine.
type endpoint struct {
	Endpoint
	link            *link.Link
	egress, ingress shaper
	gone            bool
}

func newEndpoint(e Endpoint, l *link.Link, rates world.Rates) *endpoint {
	e.Addrs = slices.Clone(e.Addrs)
	return &endpoint{
		Endpoint: e, link: l,
		egress:  newMachineShaper(rates.EgressBps, rates.Allowance),
		ingress: newMachineShaper(rates.IngressBps, rates.Allowance),
	}
}

func newMachineShaper(bps float64, a world.Allowance) shaper {
	s := newShaper(bps, 0)
	s.setQueue(milliseconds(a.QueueMs))
	s.allowance = newAllowance(a.BaselineBps, a.BurstBytes)
	return s
}

// scopedAddr is an address where it means something: a private one in its
// network, a public one everywhere.
type scopedAddr struct {
	network string
	addr    netip.Addr
}

func scoped(network string, a netip.Addr) scopedAddr {
	if a.IsPrivate() {
		return scopedAddr{network, a}
	}
	return scopedAddr{"", a}
}
