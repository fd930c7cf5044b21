package ec2

import "strconv"

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
	ID        string `xml:"vpcId"`
	State     string `xml:"state"`
	CIDR      string `xml:"cidrBlock"`
}

// isDefault says, as filters have it, whether the region's VPC is the default.
func (r *region) isDefault() string { return strconv.FormatBool(!r.door.faults.NoDefaultVPC(r.name)) }

const vpcCIDR = "172.31.0.0/16"

func (r *region) describeVPCs(_ *call, in *describeVPCsInput) (*vpcsAnswer, error) {
	for _, id := range in.VPCID {
		if id != r.vpc {
			return nil, bad("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
		}
	}
	ok, err := match(in.Filter, nil, map[string][]string{
		"vpc-id": {r.vpc}, "state": {"available"}, "cidr": {vpcCIDR},
		"is-default": {r.isDefault()}, "isDefault": {r.isDefault()}, "owner-id": {Account},
	})
	list := &vpcsAnswer{}
	if ok {
		list.VPCs = []vpcInfo{{Account, "default", r.isDefault() == "true", r.vpc, "available", vpcCIDR}}
	}
	return list, err
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
	ARN          string `xml:"subnetArn"`
	ID           string `xml:"subnetId"`
	State        string `xml:"state"`
	VPC          string `xml:"vpcId"`
	CIDR         string `xml:"cidrBlock"`
	Free         int    `xml:"availableIpAddressCount"`
	Zone         string `xml:"availabilityZone"`
	DefaultForAz bool   `xml:"defaultForAz"`
	MapPublicIP  bool   `xml:"mapPublicIpOnLaunch"`
}

// freeAddresses is what an empty /20 has: AWS keeps five.
const freeAddresses = 1<<12 - 5

func (r *region) describeSubnets(_ *call, in *describeSubnetsInput) (*subnetsAnswer, error) {
	for _, id := range in.SubnetID {
		if r.zoneOfSubnet(id) == "" {
			return nil, bad("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
		}
	}
	var found []subnetInfo
	for _, s := range r.subnets {
		if !wanted(in.SubnetID, s.id) {
			continue
		}
		ok, err := match(in.Filter, nil, map[string][]string{
			"subnet-id": {s.id}, "vpc-id": {r.vpc}, "state": {"available"}, "cidr-block": {s.cidr},
			"availability-zone": {s.zone}, "availabilityZone": {s.zone}, "availability-zone-id": {s.zoneID},
			"default-for-az": {r.isDefault()}, "defaultForAz": {r.isDefault()}, "map-public-ip-on-launch": {r.isDefault()},
		})
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, subnetInfo{s.zoneID, Account, r.arn("subnet", s.id), s.id, "available",
				r.vpc, s.cidr, freeAddresses, s.zone, r.isDefault() == "true", r.isDefault() == "true"})
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &subnetsAnswer{NextToken: next, Subnets: found[page.from:page.to]}, nil
}
