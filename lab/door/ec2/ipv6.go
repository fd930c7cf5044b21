package ec2

import (
	"net/netip"
	"strings"
	"time"
)

// everywhere6 is the destination of IPv6's route to the internet.
var everywhere6 = netip.MustParsePrefix("::/0")

// benchmarks is set aside for the likes of us (RFC 5180): 256 VPCs' ranges.
var benchmarks = netip.MustParsePrefix("2001:2::/48")

// GiveIPv6 does what an account's owner has to do before a region has IPv6: gives
// the default VPC and its subnets ranges of it, and the way to the internet a
// route. Before the door is open. A region without a door is fine.
func (d *Door) GiveIPv6(region string) {
	r := d.regions[region]
	if r == nil {
		return
	}
	r.home.ipv6 = d.nextRange()
	for i, z := range r.zones {
		r.defaultSubnet(z.name).ipv6 = part(r.home.ipv6, 64, byte(i))
	}
	for _, t := range r.tables {
		if t.vpc == r.home && t.main {
			t.routes[everywhere6] = t.routes[everywhere]
		}
	}
}

// nextRange is that of another VPC.
func (d *Door) nextRange() netip.Prefix {
	return part(benchmarks, 56, byte(d.ranges.Add(1)))
}

// associateFor is how long a range takes to belong to a VPC or a subnet that was
// made with it. Until then nothing can be had of it.
const associateFor = time.Second

// associated says whether what was made with a range has it by now.
func (res *resource) associated() bool {
	age := time.Since(res.created)
	return age >= associateFor || age < 0 // a test's clock may be before the epoch
}

// freeRange6 reads a range that must be a part of the VPC's and no subnet's yet. Many
// subnets have none.
func (r *region) freeRange6(v *vpc, text string) (netip.Prefix, error) {
	if text == "" {
		return netip.Prefix{}, nil
	}
	cidr, err := netip.ParsePrefix(text)
	if err != nil || cidr.Bits() != 64 || !v.ipv6.IsValid() || !v.associated() || !v.ipv6.Contains(cidr.Addr()) {
		return cidr, bad("InvalidSubnet.Range", "The CIDR '%s' is invalid.", text)
	}
	for _, s := range r.subnets {
		if s.vpc == v && s.ipv6 == cidr.Masked() {
			return cidr, bad("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", text)
		}
	}
	return cidr.Masked(), nil
}

// part is the n-th part of a range that has eight bits less, at a whole byte.
func part(of netip.Prefix, bits int, n byte) netip.Prefix {
	b := of.Addr().As16()
	b[bits/8-1] = n
	return netip.PrefixFrom(netip.AddrFrom16(b), bits)
}

// rangeInfo is a range of IPv6 that a VPC or a subnet has.
type rangeInfo struct {
	Association string `xml:"associationId"`
	CIDR        string `xml:"ipv6CidrBlock"`
	State       string `xml:"ipv6CidrBlockState>state"`
}

// rangesOf is empty without a range.
func rangesOf(res *resource, p netip.Prefix) []rangeInfo {
	if !p.IsValid() {
		return nil
	}
	kind, _, _ := strings.Cut(res.id, "-")
	state := "associating"
	if res.associated() {
		state = "associated"
	}
	return []rangeInfo{{fixedID(kind+"-cidr-assoc", res.id), p.String(), state}}
}

// orderIPv6 gives the machine an address if its subnet has some.
func orderIPv6(o *order) error {
	for _, nic := range o.in.NetworkInterface {
		switch n := nic.IPv6AddressCount; {
		case n < 0 || n > 1:
			return bad("InvalidParameterValue", "The lab's machines have at most one IPv6 address, not %d.", n)
		case n == 1 && !(o.subnet.ipv6.IsValid() && o.subnet.associated()):
			return bad("InvalidParameterValue", "The subnet '%s' has no IPv6 CIDR block.", o.subnet.id)
		default:
			o.ipv6 = n == 1
		}
	}
	return nil
}

type ipv6Info struct {
	Address string `xml:"ipv6Address"`
	Primary bool   `xml:"isPrimaryIpv6"`
}

// ipv6Infos is empty without an address.
func (i *instance) ipv6Infos() []ipv6Info {
	if !i.addrs.IPv6.IsValid() {
		return nil
	}
	return []ipv6Info{{Address: i.addrs.IPv6.String()}}
}
