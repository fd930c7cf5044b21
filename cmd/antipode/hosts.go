package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers/hosts"
)

// withHosts reads --hosts and adds its machines to the regions there are.
func (f *sweepFlags) withHosts(all []antipode.Region) ([]antipode.Region, error) {
	if f.hostsFile == "" {
		return all, nil
	}
	if f.labName != "" {
		return nil, usageError("--hosts: the machines of a lab reach nothing outside it; leave out --lab")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	f.hosts, err = hosts.Load(f.hostsFile, hosts.Environment{Regions: all, Home: home, AgentSocket: os.Getenv("SSH_AUTH_SOCK")})
	if err != nil {
		return nil, usageError("--hosts: %w", err)
	}
	f.machines.preferences[hosts.Cloud] = []string{hosts.MachineType}
	own := hosts.Regions(f.hosts)
	f.wishHosts(own)
	return append(slices.Clone(all), own...), nil
}

// wishHosts makes what --hosts means a wish: the hosts alone, or beside the
// regions that are named, unless the other flags name hosts themselves.
func (f *sweepFlags) wishHosts(own []antipode.Region) {
	w := &f.wishes
	isHost := func(name string) bool {
		return slices.ContainsFunc(own, func(r antipode.Region) bool { return name == r.ID() || name == r.Name })
	}
	switch {
	case len(w.Regions) > 0 && !slices.ContainsFunc(w.Regions, isHost) && (len(w.Clouds) == 0 || slices.Contains(w.Clouds, hosts.Cloud)):
		for _, r := range own {
			w.Regions = append(w.Regions, r.ID())
		}
	case len(w.Regions)+len(w.Pairs)+len(w.Clouds)+len(f.cloudPairs) == 0:
		w.Clouds = []string{hosts.Cloud}
	}
}

// checkHosts finds hosts that were given for nothing, and those that no machine
// in a cloud can reach.
func (f *sweepFlags) checkHosts(chosen []antipode.Region, pairs []plan.Pair) error {
	if f.hostsFile == "" {
		return nil
	}
	if !slices.Contains(cloudsOf(chosen), hosts.Cloud) {
		return usageError("--hosts %s: the other flags leave none of its hosts", f.hostsFile)
	}
	for _, h := range f.hosts {
		address := h.Address
		if f.ip == 6 {
			address = h.IPv6
		}
		if !address.IsPrivate() && !address.IsLoopback() && !address.IsLinkLocalUnicast() {
			continue
		}
		for _, p := range pairs {
			if p.From.Cloud != p.To.Cloud && (p.From == h.Region || p.To == h.Region) {
				return usageError("pair %s: %v is not an address of the internet, so that a machine in a cloud can't reach %s", p, address, h.Region.ID())
			}
		}
	}
	return nil
}

// creates reports whether any machine is made for a sweep of the regions.
func creates(regions []antipode.Region) bool {
	return slices.ContainsFunc(regions, func(r antipode.Region) bool { return r.Cloud != hosts.Cloud })
}

// addressTowards is the address that this computer would reach a host from.
// Nothing is sent.
func addressTowards(ctx context.Context, h hosts.Host) (netip.Addr, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "udp", netip.AddrPortFrom(h.Address, uint16(h.SSHPort)).String())
	if err != nil {
		return netip.Addr{}, fmt.Errorf("find a way to %s: %w", h.Region.ID(), err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr(), nil
}
