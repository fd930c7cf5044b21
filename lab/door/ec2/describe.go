package ec2

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// timestamp is a time as EC2 writes it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

type describeInstancesInput struct {
	InstanceID []string `form:"InstanceId"`
	Filter     []filter
	paging
}

type instancesAnswer struct {
	reply
	NextToken    string            `xml:"nextToken,omitempty"`
	Reservations []reservationInfo `xml:"reservationSet>item"`
}

type reservationInfo struct {
	ID        string         `xml:"reservationId"`
	Owner     string         `xml:"ownerId"`
	Instances []instanceInfo `xml:"instancesSet>item"`
}

type groupName struct {
	ID   string `xml:"groupId"`
	Name string `xml:"groupName"`
}

type placementInfo struct {
	Zone    string `xml:"availabilityZone"`
	Tenancy string `xml:"tenancy"`
}

type instanceInfo struct {
	Architecture   string          `xml:"architecture"`
	BlockDevices   []deviceInfo    `xml:"blockDeviceMapping>item"`
	ClientToken    string          `xml:"clientToken,omitempty"`
	CPU            cpuInfo         `xml:"cpuOptions"`
	EBSOptimized   bool            `xml:"ebsOptimized"`
	ENASupport     bool            `xml:"enaSupport"`
	Hypervisor     string          `xml:"hypervisor"`
	Lifecycle      string          `xml:"instanceLifecycle,omitempty"`
	Interfaces     []interfaceInfo `xml:"networkInterfaceSet>item"`
	RootDevice     string          `xml:"rootDeviceName"`
	RootDeviceType string          `xml:"rootDeviceType"`
	Groups         []groupName     `xml:"groupSet>item"`
	SpotRequest    string          `xml:"spotInstanceRequestId,omitempty"`
	StateReason    *stateReason    `xml:"stateReason"`
	Tags           []tag           `xml:"tagSet>item"`
	Virtualization string          `xml:"virtualizationType"`
	Metadata       metadataInfo    `xml:"metadataOptions"`
	ID             string          `xml:"instanceId"`
	Image          string          `xml:"imageId"`
	State          stateInfo       `xml:"instanceState"`
	PrivateDNS     string          `xml:"privateDnsName"`
	PublicDNS      string          `xml:"dnsName"`
	KeyName        string          `xml:"keyName,omitempty"`
	LaunchIndex    int             `xml:"amiLaunchIndex"`
	Type           string          `xml:"instanceType"`
	Launched       string          `xml:"launchTime"`
	Placement      placementInfo   `xml:"placement"`
	Monitoring     string          `xml:"monitoring>state"`
	Subnet         string          `xml:"subnetId,omitempty"`
	VPC            string          `xml:"vpcId,omitempty"`
	Private        string          `xml:"privateIpAddress,omitempty"`
	Public         string          `xml:"ipAddress,omitempty"`
	IPv6           string          `xml:"ipv6Address,omitempty"`
}

type cpuInfo struct {
	Cores          int `xml:"coreCount"`
	ThreadsPerCore int `xml:"threadsPerCore"`
}

type metadataInfo struct {
	State string `xml:"state"`
	metadataSpec
}

type deviceInfo struct {
	Name string `xml:"deviceName"`
	EBS  struct {
		Attached            string `xml:"attachTime"`
		DeleteOnTermination bool   `xml:"deleteOnTermination"`
		Status              string `xml:"status"`
		Volume              string `xml:"volumeId"`
	} `xml:"ebs"`
}

func (r *region) describeInstances(_ *call, in *describeInstancesInput) (*instancesAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.purge()
	if len(in.InstanceID) > 0 && in.MaxResults != nil {
		return nil, badCombination("The parameter instancesSet cannot be used with the parameter maxResults")
	}
	for _, id := range in.InstanceID {
		if i := r.instances[id]; i == nil || !i.seen() {
			return nil, instanceNotFound(id)
		}
	}
	var found []*instance
	for _, i := range byAge(r.instances, func(i *instance) *resource { return &i.resource }) {
		ok, err := match(in.Filter, i.tags, i.fields())
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.InstanceID, i.id) {
			found = append(found, i)
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &instancesAnswer{NextToken: next, Reservations: r.reservations(found[page.from:page.to])}, nil
}

// fields are what filters can ask for.
func (i *instance) fields() map[string][]string {
	return map[string][]string{
		"instance-id":         {i.id},
		"instance-state-name": {i.state.name},
		"instance-state-code": {fmt.Sprint(i.state.code)},
		"instance-type":       {i.machineType},
		"instance.group-id":   i.groups,
		"image-id":            {i.image.id(i.region.name)},
		"availability-zone":   {i.subnet.zone.name},
		"client-token":        {i.token},
		"key-name":            {i.keyName},
		"reservation-id":      {i.reservation},
		"subnet-id":           {i.subnet.id},
		"vpc-id":              {i.subnet.vpc.id},
		"ip-address":          {i.addrs.Public.String()},
		"private-ip-address":  {i.addrs.Private.String()},
	}
}

// reservations groups instances as they were launched.
func (r *region) reservations(found []*instance) []reservationInfo {
	var order []string
	by := map[string][]*instance{}
	for _, i := range found {
		if by[i.reservation] == nil {
			order = append(order, i.reservation)
		}
		by[i.reservation] = append(by[i.reservation], i)
	}
	var list []reservationInfo
	for _, id := range order {
		list = append(list, r.reservation(id, by[id]))
	}
	return list
}

func (r *region) reservation(id string, instances []*instance) reservationInfo {
	info := reservationInfo{ID: id, Owner: Account}
	for _, i := range instances {
		info.Instances = append(info.Instances, i.info())
	}
	return info
}

func (i *instance) info() instanceInfo {
	r := i.region
	info := instanceInfo{
		Architecture: i.image.arch, ClientToken: i.token, CPU: i.kind.cpu(), ENASupport: true, Hypervisor: "xen",
		RootDevice: i.image.rootDevice, RootDeviceType: "ebs", Virtualization: "hvm",
		SpotRequest: i.spotRequest, Tags: i.tags.list(), Metadata: metadataInfo{"applied", i.metadata},
		ID: i.id, Image: i.image.id(r.name), State: i.state.info(), KeyName: i.keyName, LaunchIndex: i.index,
		Type: i.machineType, Launched: timestamp(i.created), Placement: placementInfo{i.subnet.zone.name, "default"},
		Monitoring: "disabled",
	}
	if i.spotRequest != "" {
		info.Lifecycle = "spot"
	}
	if i.reason.Code != "" {
		info.StateReason = &i.reason
	}
	if i.state == terminated {
		return info // what it was attached to is gone
	}
	info.Subnet, info.VPC = i.subnet.id, i.subnet.vpc.id
	info.Groups = r.groupNames(i.groups)
	info.BlockDevices = r.devices(i)
	info.Interfaces = []interfaceInfo{i.interfaceInfo()}
	if i.addrs.Private.IsValid() {
		info.Private = i.addrs.Private.String()
		info.PrivateDNS = dnsName(info.Private) + "." + r.name + ".compute.internal"
	}
	if i.addrs.Public.IsValid() {
		info.Public = i.addrs.Public.String()
	}
	if i.addrs.IPv6.IsValid() {
		info.IPv6 = i.addrs.IPv6.String()
	}
	return info
}

func dnsName(addr string) string { return "ip-" + strings.ReplaceAll(addr, ".", "-") }

func (r *region) groupNames(ids []string) []groupName {
	var list []groupName
	for _, id := range ids {
		if g := r.groups[id]; g != nil {
			list = append(list, groupName{id, g.name})
		}
	}
	return list
}

func (r *region) devices(i *instance) []deviceInfo {
	var list []deviceInfo
	for _, v := range r.volumesOf(i) {
		d := deviceInfo{Name: v.device}
		d.EBS.Attached, d.EBS.Status, d.EBS.Volume = timestamp(v.created), "attached", v.id
		d.EBS.DeleteOnTermination = v.deleteOnTermination
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b deviceInfo) int { return strings.Compare(a.Name, b.Name) })
	return list
}
