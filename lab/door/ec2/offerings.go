package ec2

import (
	"cmp"
	"fmt"
	"slices"
)

type offeringsInput struct {
	LocationType string
	Filter       []filter
	paging
}

type offeringsAnswer struct {
	reply
	NextToken string     `xml:"nextToken,omitempty"`
	Offerings []offering `xml:"instanceTypeOfferingSet>item"`
}

type offering struct {
	Type         string `xml:"instanceType"`
	LocationType string `xml:"locationType"`
	Location     string `xml:"location"`
}

func (r *region) describeOfferings(_ *call, in *offeringsInput) (*offeringsAnswer, error) {
	locations, err := r.locations(cmp.Or(in.LocationType, "region"))
	if err != nil {
		return nil, err
	}
	var found []offering
	for _, t := range machineTypes {
		for _, place := range locations {
			ok, err := match(in.Filter, nil, map[string][]string{"instance-type": {t.name}, "location": {place}})
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, offering{t.name, cmp.Or(in.LocationType, "region"), place})
			}
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &offeringsAnswer{NextToken: next, Offerings: found[page.from:page.to]}, nil
}

func (r *region) locations(kind string) ([]string, error) {
	var list []string
	switch kind {
	case "region":
		return []string{r.name}, nil
	case "availability-zone":
		for _, z := range r.zones {
			list = append(list, z.name)
		}
	case "availability-zone-id":
		for _, z := range r.zones {
			list = append(list, z.id)
		}
	default:
		return nil, invalidValue("LocationType", kind)
	}
	return list, nil
}

type typesInput struct {
	InstanceType []string
	Filter       []filter
	paging
}

type typesAnswer struct {
	reply
	NextToken string     `xml:"nextToken,omitempty"`
	Types     []typeInfo `xml:"instanceTypeSet>item"`
}

type typeInfo struct {
	Name          string   `xml:"instanceType"`
	Current       bool     `xml:"currentGeneration"`
	UsageClasses  []string `xml:"supportedUsageClasses>item"`
	BareMetal     bool     `xml:"bareMetal"`
	Hypervisor    string   `xml:"hypervisor"`
	Architectures []string `xml:"processorInfo>supportedArchitectures>item"`
	VCPUs         int      `xml:"vCpuInfo>defaultVCpus"`
	MemoryMiB     int      `xml:"memoryInfo>sizeInMiB"`
	Network       string   `xml:"networkInfo>networkPerformance"`
	Burstable     bool     `xml:"burstablePerformanceSupported"`
}

func (r *region) describeTypes(_ *call, in *typesInput) (*typesAnswer, error) {
	for _, name := range in.InstanceType {
		if _, ok := findType(name); !ok {
			return nil, bad("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", name)
		}
	}
	var found []typeInfo
	for _, t := range machineTypes {
		ok, err := match(in.Filter, nil, map[string][]string{
			"instance-type": {t.name}, "current-generation": {"true"}, "processor-info.supported-architecture": {t.arch},
			"vcpu-info.default-vcpus": {fmt.Sprint(t.vcpus)}, "memory-info.size-in-mib": {fmt.Sprint(t.memoryMiB)},
			"burstable-performance-supported": {fmt.Sprint(t.burstable())},
		})
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.InstanceType, t.name) {
			found = append(found, typeInfo{t.name, true, []string{"on-demand", "spot"}, false, "nitro",
				[]string{t.arch}, t.vcpus, t.memoryMiB, t.network, t.burstable()})
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &typesAnswer{NextToken: next, Types: found[page.from:page.to]}, nil
}

type imagesInput struct {
	ImageID []string `form:"ImageId"`
	Owner   []string
	Filter  []filter
	paging
}

type imagesAnswer struct {
	reply
	NextToken string      `xml:"nextToken,omitempty"`
	Images    []imageInfo `xml:"imagesSet>item"`
}

type imageInfo struct {
	ID             string `xml:"imageId"`
	State          string `xml:"imageState"`
	Owner          string `xml:"imageOwnerId"`
	Created        string `xml:"creationDate"`
	Public         bool   `xml:"isPublic"`
	Architecture   string `xml:"architecture"`
	Kind           string `xml:"imageType"`
	Name           string `xml:"name"`
	RootDevice     string `xml:"rootDeviceName"`
	RootDeviceType string `xml:"rootDeviceType"`
	Virtualization string `xml:"virtualizationType"`
	ENASupport     bool   `xml:"enaSupport"`
}

func (r *region) describeImages(_ *call, in *imagesInput) (*imagesAnswer, error) {
	for _, id := range in.ImageID {
		if _, err := r.imageByID(id); err != nil {
			return nil, err
		}
	}
	var found []imageInfo
	for _, img := range images {
		info := imageInfo{img.id(r.name), "available", img.owner, timestamp(imagesPublished), true,
			img.arch, "machine", img.name, img.rootDevice, "ebs", "hvm", true}
		ok, err := match(in.Filter, nil, map[string][]string{
			"image-id": {info.ID}, "name": {img.name}, "architecture": {img.arch}, "owner-id": {img.owner},
			"state": {info.State}, "virtualization-type": {"hvm"}, "root-device-type": {"ebs"}, "is-public": {"true"},
		})
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.ImageID, info.ID) && owns(in.Owner, img) {
			found = append(found, info)
		}
	}
	page, next, err := in.page(len(found))
	if err != nil {
		return nil, err
	}
	return &imagesAnswer{NextToken: next, Images: found[page.from:page.to]}, nil
}

// owns says whether an image belongs to one of the owners; "amazon" is an
// alias of Amazon's own account.
func owns(owners []string, img image) bool {
	return wanted(owners, img.owner) ||
		img.user == "ec2-user" && slices.Contains(owners, "amazon")
}
