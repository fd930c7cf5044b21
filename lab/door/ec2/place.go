package ec2

import (
	"fmt"
	"slices"
)

// zone is an availability zone.
type zone struct{ name, id string }

// zoneLetters are the zones of a region, as a new account sees them.
func zoneLetters(region string) []string {
	switch region {
	case "us-east-1":
		return []string{"a", "b", "c", "d", "f"} // e has none of the newer types
	case "us-west-1":
		return []string{"a", "c"}
	case "us-west-2":
		return []string{"a", "b", "c", "d"}
	case "ca-central-1":
		return []string{"a", "b", "d"}
	case "ap-northeast-1":
		return []string{"a", "c", "d"}
	case "ap-northeast-2":
		return []string{"a", "b", "c", "d"}
	default:
		return []string{"a", "b", "c"}
	}
}

// zoneID is the zone's name that means the same place in every account. The
// real ones abbreviate the region; nobody relies on how.
func zoneID(region string, n int) string { return fmt.Sprintf("%s-az%d", region, n) }

func (r *region) zoneNamed(name string) (zone, bool) {
	i := slices.IndexFunc(r.zones, func(z zone) bool { return z.name == name })
	if i < 0 {
		return zone{}, false
	}
	return r.zones[i], true
}

func (r *region) arn(kind, id string) string {
	return fmt.Sprintf("arn:%s:ec2:%s:%s:%s/%s", r.partition, r.name, Account, kind, id)
}

type describeRegionsInput struct {
	RegionName []string
	AllRegions bool
	Filter     []filter
}

type regionsAnswer struct {
	reply
	Regions []regionInfo `xml:"regionInfo>item"`
}

type regionInfo struct {
	OptInStatus string `xml:"optInStatus"`
	Name        string `xml:"regionName"`
	Endpoint    string `xml:"regionEndpoint"`
}

func (r *region) describeRegions(_ *call, in *describeRegionsInput) (*regionsAnswer, error) {
	list := &regionsAnswer{}
	var unknown []string
	unknown = append(unknown, in.RegionName...)
	for _, other := range r.door.sortedRegions(r.partition) {
		unknown = slices.DeleteFunc(unknown, func(n string) bool { return n == other.name })
		info := regionInfo{other.optInStatus(), other.name, "ec2." + other.name + ".amazonaws.com"}
		if len(in.RegionName) > 0 && !slices.Contains(in.RegionName, other.name) ||
			info.OptInStatus == "not-opted-in" && !in.AllRegions {
			continue
		}
		ok, err := match(in.Filter, nil, map[string][]string{
			"region-name": {info.Name}, "opt-in-status": {info.OptInStatus}, "endpoint": {info.Endpoint},
		})
		if err != nil {
			return nil, err
		}
		if ok {
			list.Regions = append(list.Regions, info)
		}
	}
	if len(unknown) > 0 {
		return nil, bad("InvalidParameterValue", "Invalid region provided: %s", unknown[0])
	}
	return list, nil
}

func (r *region) optInStatus() string {
	switch {
	case r.door.faults.OptedOut(r.name):
		return "not-opted-in"
	case r.optIn:
		return "opted-in"
	default:
		return "opt-in-not-required"
	}
}

type describeZonesInput struct {
	ZoneName             []string
	ZoneID               []string `form:"ZoneId"`
	AllAvailabilityZones bool
	Filter               []filter
}

type zonesAnswer struct {
	reply
	Zones []zoneInfo `xml:"availabilityZoneInfo>item"`
}

type zoneInfo struct {
	OptInStatus string `xml:"optInStatus"`
	Region      string `xml:"regionName"`
	Name        string `xml:"zoneName"`
	ID          string `xml:"zoneId"`
	Group       string `xml:"groupName"`
	Border      string `xml:"networkBorderGroup"`
	Type        string `xml:"zoneType"`
	State       string `xml:"zoneState"`
}

func (r *region) describeZones(_ *call, in *describeZonesInput) (*zonesAnswer, error) {
	list := &zonesAnswer{}
	for _, name := range in.ZoneName {
		if _, ok := r.zoneNamed(name); !ok {
			return nil, bad("InvalidParameterValue", "Invalid availability zone: [%s]", name)
		}
	}
	for _, at := range r.zones {
		if !wanted(in.ZoneName, at.name) || !wanted(in.ZoneID, at.id) {
			continue
		}
		z := zoneInfo{"opt-in-not-required", r.name, at.name, at.id, r.name, r.name, "availability-zone", "available"}
		ok, err := match(in.Filter, nil, map[string][]string{
			"zone-name": {z.Name}, "zone-id": {z.ID}, "zone-type": {z.Type}, "state": {z.State},
			"region-name": {z.Region}, "opt-in-status": {z.OptInStatus}, "group-name": {z.Group},
		})
		if err != nil {
			return nil, err
		}
		if ok {
			list.Zones = append(list.Zones, z)
		}
	}
	return list, nil
}

// wanted says whether a list of names asks for one; an empty list asks for all.
func wanted(names []string, name string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}
