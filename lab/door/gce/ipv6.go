package gce

import "github.com/antipode-bench/antipode/lab/vm"

// Stack types of subnetworks and interfaces.
const (
	ipv4Only  = "IPV4_ONLY"
	dualStack = "IPV4_IPV6"
)

// externalIPv6 is the only kind of IPv6 that the lab's subnetworks have.
const externalIPv6 = "EXTERNAL"

// sharedRange is what every dual-stack subnetwork says it has. Machines get
// their addresses from the lab.
const sharedRange = "2001:2::/64"

// GiveIPv6 lets a region have subnetworks with IPv6 addresses of the internet,
// and makes those such that are there, but for the automatic ones, which can't
// be. Before the door is open.
func (d *Door) GiveIPv6(region string) {
	for _, p := range d.projects {
		p.ipv6[region] = true
		for _, s := range p.subnetworks {
			if n := p.networks[parseLink(s.Network)["networks"]]; s.region == region && !n.auto() {
				s.StackType, s.IPv6Access, s.ExternalIPv6 = dualStack, externalIPv6, sharedRange
			}
		}
	}
}

// ipv6AccessJSON is an address of IPv6 that an interface has.
type ipv6AccessJSON struct {
	Kind        string `json:"kind,omitempty"`
	Type        string `json:"type,omitempty"`
	Name        string `json:"name,omitempty"`
	Address     string `json:"externalIpv6,omitempty"`
	PrefixLen   int    `json:"externalIpv6PrefixLength,omitempty"`
	NetworkTier string `json:"networkTier,omitempty"`
}

// stack checks what a new subnetwork has of IPv6, and completes it.
func (q *request) stack(in subnetworkJSON) (stackType, access, external string, err error) {
	switch {
	case in.StackType == "" || in.StackType == ipv4Only:
		if in.IPv6Access != "" {
			err = invalidField("resource.ipv6AccessType", in.IPv6Access, "It may be set for dual stack subnetworks only.")
		}
		return ipv4Only, "", "", err
	case in.StackType != dualStack:
		return "", "", "", invalidField("resource.stackType", in.StackType, "The lab has IPV4_ONLY and IPV4_IPV6.")
	case in.IPv6Access != externalIPv6:
		return "", "", "", invalidField("resource.ipv6AccessType", in.IPv6Access, "The lab has EXTERNAL only.")
	case !q.door.ipv6[q.region]:
		return "", "", "", invalidField("resource.stackType", in.StackType, "Region '"+q.region+"' does not support external IPv6.")
	}
	return dualStack, in.IPv6Access, sharedRange, nil
}

// takeStack gives the interface an IPv6 address if its subnetwork has some.
func (i *instance) takeStack(in interfaceJSON, out *interfaceJSON, s *subnetwork) error {
	const field = "resource.networkInterfaces[0]"
	switch {
	case in.StackType == "" || in.StackType == ipv4Only:
		if len(in.IPv6Access) > 0 {
			return invalidField(field+".ipv6AccessConfigs", len(in.IPv6Access), "The interface has no IPv6.")
		}
		out.StackType = ipv4Only
		return nil
	case in.StackType != dualStack || s.StackType != dualStack:
		return invalidField(field+".stackType", in.StackType, "The subnetwork is "+s.StackType+".")
	case len(in.IPv6Access) > 1:
		return invalidField(field+".ipv6AccessConfigs", len(in.IPv6Access), "At most one access config currently supported.")
	}
	out.StackType, out.IPv6AccessType = dualStack, s.IPv6Access
	for _, a := range in.IPv6Access {
		if a.Type != "DIRECT_IPV6" || a.NetworkTier != "PREMIUM" || a.Address != "" {
			return invalidField(field+".ipv6AccessConfigs[0]", a.Type, "Must be DIRECT_IPV6, in the tier PREMIUM, without an address.")
		}
		out.IPv6Access = append(out.IPv6Access, ipv6AccessJSON{Kind: "compute#accessConfig", Type: a.Type, Name: a.Name, NetworkTier: a.NetworkTier})
	}
	return nil
}

// hasIPv6 says whether it was asked for an address.
func (i *instance) hasIPv6() bool { return len(i.Interfaces[0].IPv6Access) > 0 }

// startedIPv6 tells the address that the machine has got.
func (i *instance) startedIPv6(a vm.Addresses) {
	if i.hasIPv6() {
		access := &i.Interfaces[0].IPv6Access[0]
		access.Address, access.PrefixLen = a.IPv6.String(), 96
	}
}
