package router

import (
	"slices"

	"github.com/antipode-bench/antipode/lab/router/packet"
	"github.com/antipode-bench/antipode/lab/vm"
)

// allow reports whether a rule lets the packet open a flow.
func allow(rules []vm.Rule, p *packet.Packet) bool {
	return slices.ContainsFunc(rules, func(r vm.Rule) bool {
		return matchesProtocol(r, p) && matchesSource(r, p)
	})
}

func matchesProtocol(r vm.Rule, p *packet.Packet) bool {
	inRange := r.FromPort <= p.Dst.Port() && p.Dst.Port() <= r.ToPort
	switch r.Protocol {
	case "all":
		return true
	case "tcp":
		return p.Protocol == packet.TCP && inRange
	case "udp":
		return p.Protocol == packet.UDP && inRange
	case "icmp":
		return p.Protocol == packet.ICMP || p.Protocol == packet.ICMPv6
	}
	return false
}

func matchesSource(r vm.Rule, p *packet.Packet) bool {
	for _, source := range r.Sources {
		if source.Contains(p.Src.Addr()) {
			return true
		}
	}
	return false
}
