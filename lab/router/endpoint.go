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
		egress:  newShaper(rates.EgressBps, 0),
		ingress: newShaper(rates.IngressBps, 0),
	}
}

// scopedAddr is an address where it means something: a private one in its
// region, a public one everywhere.
type scopedAddr struct {
	region string
	addr   netip.Addr
}

func scoped(region string, a netip.Addr) scopedAddr {
	if a.IsPrivate() {
		return scopedAddr{region, a}
	}
	return scopedAddr{"", a}
}
