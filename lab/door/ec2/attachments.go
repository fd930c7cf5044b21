package ec2

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// volume is one disk.
type volume struct {
	resource
	zone                string
	sizeGiB             int
	kind                string
	device              string
	instance            *instance // nil: attached to none
	deleteOnTermination bool
}

func (v *volume) state() string {
	if v.instance == nil {
		return "available"
	}
	return "in-use"
}

const rootSizeGiB = 8

// attachVolumes makes the root volume and whatever else was asked for.
func (r *region) attachVolumes(o *order, i *instance) {
	r.attach(o, i, blockDevice{DeviceName: o.image.rootDevice}, true)
	for _, b := range o.in.BlockDevice {
		r.attach(o, i, b, b.DeviceName == o.image.rootDevice)
	}
}

// attach makes a volume, or changes the one that is attached as that device.
func (r *region) attach(o *order, i *instance, b blockDevice, deleteByDefault bool) {
	v := &volume{resource: r.newResource("vol", maps.Clone(o.tags["volume"]))}
	for _, have := range r.volumesOf(i) {
		if have.device == b.DeviceName {
			v = have
		}
	}
	v.zone, v.device, v.instance = o.subnet.zone.name, b.DeviceName, i
	v.sizeGiB = cmp.Or(b.EBS.VolumeSize, v.sizeGiB, rootSizeGiB)
	v.kind = cmp.Or(b.EBS.VolumeType, v.kind, "gp3")
	v.deleteOnTermination = deleteByDefault
	if b.EBS.DeleteOnTermination != nil {
		v.deleteOnTermination = *b.EBS.DeleteOnTermination
	}
	r.volumes[v.id] = v
}

func (r *region) volumesOf(i *instance) []*volume {
	var list []*volume
	for _, v := range r.volumes {
		if v.instance == i {
			list = append(list, v)
		}
	}
	return list
}

type describeVolumesInput struct {
	VolumeID []string `form:"VolumeId"`
	Filter   []filter
	paging
}

type volumesAnswer struct {
	reply
	NextToken string       `xml:"nextToken,omitempty"`
	Volumes   []volumeInfo `xml:"volumeSet>item"`
}

type volumeInfo struct {
	ID          string           `xml:"volumeId"`
	SizeGiB     int              `xml:"size"`
	Zone        string           `xml:"availabilityZone"`
	Status      string           `xml:"status"`
	Created     string           `xml:"createTime"`
	Kind        string           `xml:"volumeType"`
	Encrypted   bool             `xml:"encrypted"`
	Attachments []attachmentInfo `xml:"attachmentSet>item"`
	Tags        []tag            `xml:"tagSet>item"`
}

type attachmentInfo struct {
	DeleteOnTermination bool   `xml:"deleteOnTermination"`
	Volume              string `xml:"volumeId"`
	Instance            string `xml:"instanceId"`
	Device              string `xml:"device"`
	Status              string `xml:"status"`
	Attached            string `xml:"attachTime"`
}

func (r *region) describeVolumes(_ *call, in *describeVolumesInput) (*volumesAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range in.VolumeID {
		if v := r.volumes[id]; v == nil || !v.seen() {
			return nil, bad("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
		}
	}
	var found []volumeInfo
	for _, v := range byAge(r.volumes, func(v *volume) *resource { return &v.resource }) {
		ok, err := match(in.Filter, v.tags, v.fields())
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.VolumeID, v.id) {
			found = append(found, v.info())
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &volumesAnswer{NextToken: next, Volumes: found[page.from:page.to]}, nil
}

type deleteVolumeInput struct {
	VolumeID string `form:"VolumeId"`
}

func (r *region) deleteVolume(_ *call, in *deleteVolumeInput) (*okAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.volumes[in.VolumeID]
	switch {
	case in.VolumeID == "":
		return nil, missing("VolumeId")
	case v == nil:
		return nil, bad("InvalidVolume.NotFound", "The volume '%s' does not exist.", in.VolumeID)
	case v.instance != nil:
		return nil, bad("VolumeInUse", "Volume %s is currently attached to %s", v.id, v.instance.id)
	}
	delete(r.volumes, v.id)
	return &okAnswer{Return: true}, nil
}

func (v *volume) fields() map[string][]string {
	f := map[string][]string{
		"volume-id": {v.id}, "status": {v.state()}, "availability-zone": {v.zone}, "volume-type": {v.kind},
		"attachment.instance-id": nil, "attachment.delete-on-termination": nil,
	}
	if v.instance != nil {
		f["attachment.instance-id"] = []string{v.instance.id}
	}
	return f
}

func (v *volume) info() volumeInfo {
	info := volumeInfo{
		ID: v.id, SizeGiB: v.sizeGiB, Zone: v.zone, Status: v.state(), Created: timestamp(v.created), Kind: v.kind, Tags: v.tags.list(),
	}
	if v.instance != nil {
		info.Attachments = []attachmentInfo{{v.deleteOnTermination, v.id, v.instance.id, v.device, "attached", timestamp(v.created)}}
	}
	return info
}

type interfaceInfo struct {
	Association *associationInfo  `xml:"association"`
	Attachment  nicAttachmentInfo `xml:"attachment"`
	Groups      []groupName       `xml:"groupSet>item"`
	ID          string            `xml:"networkInterfaceId"`
	Owner       string            `xml:"ownerId"`
	Private     string            `xml:"privateIpAddress,omitempty"`
	Status      string            `xml:"status"`
	Subnet      string            `xml:"subnetId"`
	VPC         string            `xml:"vpcId"`
	Type        string            `xml:"interfaceType"`
	IPv6        []ipv6Info        `xml:"ipv6AddressesSet>item"`
}

// interfaceItem is an interface as DescribeNetworkInterfaces has it.
type interfaceItem struct {
	interfaceInfo
	Zone string `xml:"availabilityZone"`
	Tags []tag  `xml:"tagSet>item"`
}

type associationInfo struct {
	Owner  string `xml:"ipOwnerId"`
	Public string `xml:"publicIp"`
}

type nicAttachmentInfo struct {
	Attached            string `xml:"attachTime"`
	ID                  string `xml:"attachmentId"`
	DeleteOnTermination bool   `xml:"deleteOnTermination"`
	DeviceIndex         int    `xml:"deviceIndex"`
	Status              string `xml:"status"`
	Instance            string `xml:"instanceId,omitempty"`
}

// interfaceInfo is the instance's one interface as DescribeInstances has it.
func (i *instance) interfaceInfo() interfaceInfo {
	n := interfaceInfo{
		Attachment: nicAttachmentInfo{Attached: timestamp(i.created), ID: strings.Replace(i.eni.id, "eni", "eni-attach", 1), DeleteOnTermination: true, Status: "attached"},
		Groups:     i.region.groupNames(i.groups),
		ID:         i.eni.id, Owner: Account, Status: "in-use", Subnet: i.subnet.id, VPC: i.subnet.vpc.id, Type: "interface", IPv6: i.ipv6Infos(),
	}
	if i.addrs.Private.IsValid() {
		n.Private = i.addrs.Private.String()
	}
	if i.addrs.Public.IsValid() {
		n.Association = &associationInfo{"amazon", i.addrs.Public.String()}
	}
	return n
}

type describeInterfacesInput struct {
	ID     []string `form:"NetworkInterfaceId"`
	Filter []filter
	paging
}

type interfacesAnswer struct {
	reply
	NextToken  string          `xml:"nextToken,omitempty"`
	Interfaces []interfaceItem `xml:"networkInterfaceSet>item"`
}

func (r *region) describeInterfaces(_ *call, in *describeInterfacesInput) (*interfacesAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []interfaceItem
	for _, i := range byAge(r.instances, func(i *instance) *resource { return &i.eni }) {
		if i.state == terminated || !wanted(in.ID, i.eni.id) {
			continue
		}
		ok, err := match(in.Filter, i.eni.tags, map[string][]string{
			"network-interface-id": {i.eni.id}, "attachment.instance-id": {i.id}, "group-id": i.groups,
			"subnet-id": {i.subnet.id}, "vpc-id": {i.subnet.vpc.id}, "availability-zone": {i.subnet.zone.name}, "status": {"in-use"},
		})
		if err != nil {
			return nil, err
		}
		if ok {
			n := interfaceItem{i.interfaceInfo(), i.subnet.zone.name, i.eni.tags.list()}
			n.Attachment.Instance = i.id
			found = append(found, n)
		}
	}
	if len(in.ID) > 0 && !slices.ContainsFunc(found, func(n interfaceItem) bool { return n.ID == in.ID[0] }) {
		return nil, bad("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '%s' does not exist", in.ID[0])
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &interfacesAnswer{NextToken: next, Interfaces: found[page.from:page.to]}, nil
}
