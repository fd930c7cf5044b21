package ec2

import (
	"net/netip"
	"strconv"
)

// subnet is a part of a VPC in one zone. Its CIDR is what AWS gives or the
// caller asked for; machines get their private addresses from the lab.
type subnet struct {
	resource
	zone zone
	vpc  *vpc
	cidr netip.Prefix
	ipv6 netip.Prefix // may be none
	home bool         // came with the account
}

// subnetBy finds a subnet that reads can see already.
func (r *region) subnetBy(id string) (*subnet, error) {
	if s := r.subnets[id]; s != nil && s.seen() {
		return s, nil
	}
	return nil, subnetNotFound(id)
}

func subnetNotFound(id string) *failure {
	return bad("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
}

func (r *region) zoneOfSubnet(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.subnets[id]; s != nil {
		return s.zone.name
	}
	return ""
}

// defaultSubnet is the one of a zone that came with the account.
func (r *region) defaultSubnet(zone string) *subnet {
	for _, s := range r.subnets {
		if s.home && s.zone.name == zone {
			return s
		}
	}
	return nil
}

type describeSubnetsInput struct {
	SubnetID []string `form:"SubnetId"`
	Filter   []filter
	paging
}

type subnetsAnswer struct {
	reply
	NextToken string       `xml:"nextToken,omitempty"`
	Subnets   []subnetInfo `xml:"subnetSet>item"`
}

type subnetInfo struct {
	ZoneID       string `xml:"availabilityZoneId"`
	Owner        string `xml:"ownerId"`
	Tags         []tag  `xml:"tagSet>item"`
	ARN          string `xml:"subnetArn"`
	ID           string `xml:"subnetId"`
	State        string `xml:"state"`
	VPC          string `xml:"vpcId"`
	CIDR         string `xml:"cidrBlock"`
	Free         int    `xml:"availableIpAddressCount"`
	Zone         string `xml:"availabilityZone"`
	DefaultForAz bool   `xml:"defaultForAz"`
	MapPublicIP  bool   `xml:"mapPublicIpOnLaunch"`

	IPv6    []rangeInfo `xml:"ipv6CidrBlockAssociationSet>item"`
	MapIPv6 bool        `xml:"assignIpv6AddressOnCreation"`
}

// keptAddresses are those of each subnet that AWS keeps for itself.
const keptAddresses = 5

func (r *region) subnetInfo(s *subnet) subnetInfo {
	byDefault := r.isDefault(s.vpc)
	return subnetInfo{s.zone.id, Account, s.tags.list(), r.arn("subnet", s.id), s.id, "available",
		s.vpc.id, s.cidr.String(), 1<<(32-s.cidr.Bits()) - keptAddresses, s.zone.name, byDefault, byDefault, rangesOf(&s.resource, s.ipv6), false}
}

func (r *region) describeSubnets(_ *call, in *describeSubnetsInput) (*subnetsAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range in.SubnetID {
		if _, err := r.subnetBy(id); err != nil {
			return nil, err
		}
	}
	var found []subnetInfo
	for _, s := range byAge(r.subnets, func(s *subnet) *resource { return &s.resource }) {
		ok, err := match(in.Filter, s.tags, r.subnetFields(s))
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.SubnetID, s.id) {
			found = append(found, r.subnetInfo(s))
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &subnetsAnswer{NextToken: next, Subnets: found[page.from:page.to]}, nil
}

func (r *region) subnetFields(s *subnet) map[string][]string {
	byDefault := []string{strconv.FormatBool(r.isDefault(s.vpc))}
	return map[string][]string{
		"subnet-id": {s.id}, "vpc-id": {s.vpc.id}, "state": {"available"}, "cidr-block": {s.cidr.String()},
		"availability-zone": {s.zone.name}, "availabilityZone": {s.zone.name}, "availability-zone-id": {s.zone.id},
		"default-for-az": byDefault, "defaultForAz": byDefault, "map-public-ip-on-launch": byDefault,
	}
}

type createSubnetInput struct {
	VPC              string `form:"VpcId,required"`
	CIDR             string `form:"CidrBlock"`
	IPv6             string `form:"Ipv6CidrBlock"`
	AvailabilityZone string
	TagSpecification []tagSpec
}

type createSubnetAnswer struct {
	reply
	Subnet subnetInfo `xml:"subnet"`
}

func (r *region) createSubnet(_ *call, in *createSubnetInput) (*createSubnetAnswer, error) {
	t, err := tagsFor(in.TagSpecification, "subnet")
	if err != nil {
		return nil, err
	}
	at := r.zones[0]
	if in.AvailabilityZone != "" {
		var ok bool
		if at, ok = r.zoneNamed(in.AvailabilityZone); !ok {
			return nil, invalidValue("availabilityZone", in.AvailabilityZone)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v, err := r.vpcBy(in.VPC)
	if err != nil {
		return nil, err
	}
	cidr, err := r.freeRange(v, in.CIDR)
	if err != nil {
		return nil, err
	}
	ipv6, err := r.freeRange6(v, in.IPv6)
	if err != nil {
		return nil, err
	}
	s := &subnet{resource: r.newResource("subnet", t), zone: at, vpc: v, cidr: cidr, ipv6: ipv6}
	r.subnets[s.id] = s
	return &createSubnetAnswer{Subnet: r.subnetInfo(s)}, nil
}

// freeRange reads a range of addresses that must be a VPC's and no subnet's yet.
func (r *region) freeRange(v *vpc, text string) (netip.Prefix, error) {
	cidr, err := netip.ParsePrefix(text)
	if err != nil || !networkSized(cidr) || cidr.Bits() < v.cidr.Bits() || !v.cidr.Contains(cidr.Addr()) {
		return cidr, bad("InvalidSubnet.Range", "The CIDR '%s' is invalid.", text)
	}
	for _, s := range r.subnets {
		if s.vpc == v && s.cidr.Overlaps(cidr) {
			return cidr, bad("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", text)
		}
	}
	return cidr.Masked(), nil
}

type deleteSubnetInput struct {
	ID string `form:"SubnetId,required"`
}

func (r *region) deleteSubnet(_ *call, in *deleteSubnetInput) (*okAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.subnets[in.ID]
	if s == nil {
		return nil, subnetNotFound(in.ID)
	}
	for _, i := range r.instances {
		if i.state != terminated && i.subnet == s {
			return nil, dependent("subnet", in.ID)
		}
	}
	delete(r.subnets, in.ID)
	for _, t := range r.tables {
		delete(t.subnets, s) // an association ends with its subnet
	}
	return &okAnswer{Return: true}, nil
}
