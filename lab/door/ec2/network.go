package ec2

import (
	"cmp"
	"net/netip"
	"strconv"
	"time"

	"github.com/antipode-bench/antipode/lab/door/fault"
)

// vpc is one virtual network.
type vpc struct {
	resource
	cidr netip.Prefix
	ipv6 netip.Prefix // may be none
	home bool         // came with the account
}

// homeCIDR is what AWS gives the VPC that it makes for an account.
var homeCIDR = netip.MustParsePrefix("172.31.0.0/16")

// epoch is when what came with the account was made.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// addHome makes what every account has from its first day: a VPC with a subnet
// in each zone, and the way from there to the internet.
func (r *region) addHome() {
	fixed := func(prefix string, n int, of ...string) resource {
		return resource{id: fixedID(prefix, of...), created: epoch.Add(time.Duration(n) * time.Second)}
	}
	r.home = &vpc{resource: fixed("vpc", 0, r.name), cidr: homeCIDR, home: true}
	r.vpcs[r.home.id] = r.home
	for i, z := range r.zones {
		s := &subnet{resource: fixed("subnet", i, z.name), zone: z, vpc: r.home, home: true,
			cidr: netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 31, byte(16 * i), 0}), 20)}
		r.subnets[s.id] = s
	}
	g := &gateway{resource: fixed("igw", 0, r.name), vpc: r.home}
	r.gateways[g.id] = g
	r.addMain(&routeTable{resource: fixed("rtb", 0, r.name), vpc: r.home, routes: map[netip.Prefix]*gateway{everywhere: g}})
	r.addDefaultGroup(fixed("sg", 0, r.name), r.home)
}

// addMain and addDefaultGroup make what each VPC has of its own.
func (r *region) addMain(t *routeTable) {
	t.main = true
	r.tables[t.id] = t
}

func (r *region) addDefaultGroup(res resource, v *vpc) {
	r.groups[res.id] = &group{resource: res, vpc: v, name: "default", description: "default VPC security group"}
}

// isDefault says whether a VPC is the region's default one.
func (r *region) isDefault(v *vpc) bool { return v.home && !r.door.faults.NoDefaultVPC(r.name) }

// defaultVPC is where things go for which none is named.
func (r *region) defaultVPC() (*vpc, error) {
	if !r.isDefault(r.home) {
		return nil, bad("VPCIdNotSpecified", "No default VPC for this user")
	}
	return r.home, nil
}

// vpcBy finds a VPC that reads can see already.
func (r *region) vpcBy(id string) (*vpc, error) {
	if v := r.vpcs[id]; v != nil && v.seen() {
		return v, nil
	}
	return nil, vpcNotFound(id)
}

func vpcNotFound(id string) *failure {
	return bad("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
}

type describeVPCsInput struct {
	VPCID  []string `form:"VpcId"`
	Filter []filter
	paging
}

type vpcsAnswer struct {
	reply
	NextToken string    `xml:"nextToken,omitempty"`
	VPCs      []vpcInfo `xml:"vpcSet>item"`
}

type vpcInfo struct {
	Owner     string `xml:"ownerId"`
	Tenancy   string `xml:"instanceTenancy"`
	IsDefault bool   `xml:"isDefault"`
	Tags      []tag  `xml:"tagSet>item"`
	ID        string `xml:"vpcId"`
	State     string `xml:"state"`
	CIDR      string `xml:"cidrBlock"`

	IPv6 []rangeInfo `xml:"ipv6CidrBlockAssociationSet>item"`
}

func (r *region) vpcInfo(v *vpc) vpcInfo {
	return vpcInfo{Account, "default", r.isDefault(v), v.tags.list(), v.id, "available", v.cidr.String(), rangesOf(&v.resource, v.ipv6)}
}

func (r *region) describeVPCs(_ *call, in *describeVPCsInput) (*vpcsAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range in.VPCID {
		if _, err := r.vpcBy(id); err != nil {
			return nil, err
		}
	}
	var found []vpcInfo
	for _, v := range byAge(r.vpcs, func(v *vpc) *resource { return &v.resource }) {
		isDefault := []string{strconv.FormatBool(r.isDefault(v))}
		ok, err := match(in.Filter, v.tags, map[string][]string{
			"vpc-id": {v.id}, "state": {"available"}, "cidr": {v.cidr.String()},
			"is-default": isDefault, "isDefault": isDefault, "owner-id": {Account},
		})
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.VPCID, v.id) {
			found = append(found, r.vpcInfo(v))
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &vpcsAnswer{NextToken: next, VPCs: found[page.from:page.to]}, nil
}

type createVPCInput struct {
	CIDR             string `form:"CidrBlock"`
	Tenancy          string `form:"InstanceTenancy"`
	IPv6             bool   `form:"AmazonProvidedIpv6CidrBlock"`
	TagSpecification []tagSpec
}

type createVPCAnswer struct {
	reply
	VPC vpcInfo `xml:"vpc"`
}

// usualVPCs is how many a region may have unless the lab's file says otherwise.
const usualVPCs = 5

func (r *region) vpcLimit() int {
	return r.door.faults.Limit(fault.Place{Cloud: "aws", Region: r.name}, fault.VPCs, usualVPCs)
}

// createVPC makes another one each time it is called: it takes no token.
func (r *region) createVPC(_ *call, in *createVPCInput) (*createVPCAnswer, error) {
	t, err := tagsFor(in.TagSpecification, "vpc")
	if err != nil {
		return nil, err
	}
	cidr, err := netip.ParsePrefix(in.CIDR)
	if err != nil || !networkSized(cidr) {
		return nil, bad("InvalidVpc.Range", "The CIDR '%s' is invalid.", in.CIDR)
	}
	if tenancy := cmp.Or(in.Tenancy, "default"); tenancy != "default" {
		return nil, bad("UnsupportedOperation", "The lab has no tenancy %s.", tenancy)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.vpcs) >= r.vpcLimit() {
		return nil, bad("VpcLimitExceeded", "The maximum number of VPCs has been reached.")
	}
	v := &vpc{resource: r.newResource("vpc", t), cidr: cidr.Masked()}
	if in.IPv6 {
		v.ipv6 = r.door.nextRange()
	}
	r.vpcs[v.id] = v
	r.addMain(&routeTable{resource: r.newResource("rtb", nil), vpc: v, routes: map[netip.Prefix]*gateway{}})
	r.addDefaultGroup(r.newResource("sg", nil), v)
	return &createVPCAnswer{VPC: r.vpcInfo(v)}, nil
}

// networkSized says whether a VPC or a subnet may have such a range.
func networkSized(cidr netip.Prefix) bool {
	return cidr.Addr().Is4() && cidr.Bits() >= 16 && cidr.Bits() <= 28
}

type deleteVPCInput struct {
	ID string `form:"VpcId,required"`
}

// deleteVPC takes along only what the VPC was made with. As all deletes it sees
// also what reads don't find yet.
func (r *region) deleteVPC(_ *call, in *deleteVPCInput) (*okAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.vpcs[in.ID]
	switch {
	case v == nil:
		return nil, vpcNotFound(in.ID)
	case r.inhabited(v):
		return nil, dependent("vpc", v.id)
	}
	delete(r.vpcs, v.id)
	for id, t := range r.tables {
		if t.vpc == v {
			delete(r.tables, id)
		}
	}
	for id, g := range r.groups {
		if g.vpc == v {
			delete(r.groups, id)
		}
	}
	return &okAnswer{Return: true}, nil
}

// inhabited says whether something is in a VPC that has to go first.
func (r *region) inhabited(v *vpc) bool {
	for _, s := range r.subnets {
		if s.vpc == v {
			return true
		}
	}
	for _, g := range r.gateways {
		if g.vpc == v {
			return true
		}
	}
	for _, t := range r.tables {
		if t.vpc == v && !t.main {
			return true
		}
	}
	for _, g := range r.groups {
		if g.vpc == v && !g.isDefault() {
			return true
		}
	}
	return false
}

func dependent(kind, id string) *failure {
	return bad("DependencyViolation", "The %s '%s' has dependencies and cannot be deleted.", kind, id)
}
