package ec2

import (
	"cmp"
	"slices"
)

// maxInstances is how many one call may launch; maxGroups how many groups an
// interface takes.
const (
	maxInstances = 100
	maxGroups    = 5
)

// order checks everything that a RunInstances call asks for.
func (r *region) order(in *runInstancesInput) (*order, error) {
	o := &order{in: in, count: in.MaxCount, public: true}
	for _, check := range []func(*order) error{
		orderCount, r.orderImage, r.orderPlace, orderIPv6, r.orderGroups, r.orderKey, orderOptions, orderMetadata, orderTags,
	} {
		if err := check(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func orderCount(o *order) error {
	switch {
	case o.in.MinCount < 1 || o.in.MaxCount < o.in.MinCount:
		return bad("InvalidParameterValue", "Value (%d) for parameter minCount is invalid.", o.in.MinCount)
	case o.in.MaxCount > maxInstances:
		return bad("InstanceLimitExceeded", "You have requested more instances (%d) than your current instance limit of %d allows.", o.in.MaxCount, maxInstances)
	}
	return nil
}

func (r *region) orderImage(o *order) (err error) {
	if o.image, err = r.imageByID(o.in.ImageID); err != nil {
		return err
	}
	var ok bool
	name := cmp.Or(o.in.InstanceType, "t3.micro")
	if o.kind, ok = findType(name); !ok {
		return bad("InvalidParameterValue", "Invalid value '%s' for InstanceType.", name)
	}
	if o.kind.arch != o.image.arch {
		return bad("InvalidParameterValue", "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI.",
			o.kind.arch, o.image.arch)
	}
	return nil
}

// orderPlace finds the zone: by the subnet, by name, or the first.
func (r *region) orderPlace(o *order) error {
	subnetID := o.in.SubnetID
	if len(o.in.NetworkInterface) > 1 {
		return bad("UnsupportedOperation", "The lab's machines have one network interface.")
	}
	if len(o.in.NetworkInterface) == 1 {
		if subnetID != "" || len(o.in.SecurityGroupID)+len(o.in.SecurityGroup) > 0 {
			return badCombination("Network interfaces and an instance-level subnet or security groups may not be specified on the same request")
		}
		nic := o.in.NetworkInterface[0]
		subnetID = nic.SubnetID
		o.public = nic.AssociatePublicIPAddress == nil || *nic.AssociatePublicIPAddress
	}
	want := o.in.Placement.AvailabilityZone
	if subnetID == "" {
		return r.orderZone(o, cmp.Or(want, r.zones[0].name))
	}
	var err error
	if o.subnet, err = r.subnetBy(subnetID); err != nil {
		return err
	}
	if has := o.subnet.zone.name; want != "" && want != has {
		return badCombination("The availability zone '%s' does not match the subnet's '%s'", want, has)
	}
	return nil
}

// orderZone takes the zone's default subnet.
func (r *region) orderZone(o *order, zone string) error {
	if _, err := r.defaultVPC(); err != nil {
		return err
	}
	if o.subnet = r.defaultSubnet(zone); o.subnet == nil {
		return bad("InvalidParameterValue", "Invalid availability zone: [%s]", zone)
	}
	return nil
}

func (r *region) orderGroups(o *order) error {
	ids := slices.Clone(o.in.SecurityGroupID)
	for _, nic := range o.in.NetworkInterface {
		ids = append(ids, nic.SecurityGroupID...)
	}
	for _, name := range o.in.SecurityGroup {
		g, err := r.groupBy("", name)
		if err != nil {
			return err
		}
		ids = append(ids, g.id)
	}
	if len(ids) == 0 {
		ids = []string{r.groupNamed(o.subnet.vpc, "default").id}
	}
	for _, id := range ids {
		g, err := r.group(id)
		if err != nil {
			return err
		}
		if g.vpc != o.subnet.vpc {
			return bad("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, o.subnet.id)
		}
		if !slices.Contains(o.groups, id) {
			o.groups = append(o.groups, id)
		}
	}
	if len(o.groups) > maxGroups {
		return bad("SecurityGroupsPerInterfaceLimitExceeded", "The maximum number of security groups per interface has been reached.")
	}
	return nil
}

func (r *region) orderKey(o *order) error {
	if o.in.KeyName == "" {
		return nil
	}
	k := r.keys[o.in.KeyName]
	if k == nil || !k.seen() {
		return keyNotFound(o.in.KeyName)
	}
	o.key = k.public
	return nil
}

func orderOptions(o *order) (err error) {
	if o.userData, err = decodeUserData(o.in.UserData); err != nil {
		return err
	}
	switch o.in.ShutdownBehavior {
	case "", "stop", "terminate":
	default:
		return invalidValue("InstanceInitiatedShutdownBehavior", o.in.ShutdownBehavior)
	}
	if c := o.in.Credits; c != nil {
		if c.CPUCredits != "standard" && c.CPUCredits != "unlimited" {
			return invalidValue("CreditSpecification.CpuCredits", c.CPUCredits)
		}
		if !o.kind.burstable() {
			return badCombination("The T2/T3 Unlimited feature is not supported by the instance type %s", o.kind.name)
		}
	}
	if len(o.in.ClientToken) > 64 {
		return invalidValue("ClientToken", o.in.ClientToken)
	}
	return orderMarket(o)
}

func orderMarket(o *order) error {
	m := o.in.Market
	if m == nil {
		return nil
	}
	if m.MarketType != "spot" {
		return invalidValue("InstanceMarketOptions.MarketType", m.MarketType)
	}
	if o.in.ShutdownBehavior == "stop" || o.in.ProtectedFromCall {
		return badCombination("The shutdown behavior stop and termination protection are not supported for Spot Instances.")
	}
	if m.SpotOptions.SpotInstanceType == "persistent" {
		return bad("UnsupportedOperation", "The lab has one-time Spot requests only.")
	}
	o.in.ShutdownBehavior = "terminate"
	return nil
}

func orderMetadata(o *order) error {
	o.metadata = metadataSpec{"optional", 1, "enabled", "disabled", "disabled"}
	if m := o.in.Metadata; m != nil {
		o.metadata = metadataSpec{
			cmp.Or(m.HTTPTokens, "optional"), cmp.Or(m.HopLimit, 1), cmp.Or(m.HTTPEndpoint, "enabled"),
			cmp.Or(m.HTTPProtocolIPv6, "disabled"), cmp.Or(m.MetadataTags, "disabled"),
		}
	}
	if t := o.metadata.HTTPTokens; t != "optional" && t != "required" {
		return invalidValue("MetadataOptions.HttpTokens", t)
	}
	if h := o.metadata.HopLimit; h < 1 || h > 64 {
		return invalidValue("MetadataOptions.HttpPutResponseHopLimit", h)
	}
	for _, s := range []string{o.metadata.HTTPEndpoint, o.metadata.HTTPProtocolIPv6, o.metadata.MetadataTags} {
		if s != "enabled" && s != "disabled" {
			return invalidValue("MetadataOptions", s)
		}
	}
	return nil
}

// taggable are the types of resource that RunInstances makes.
var taggable = []string{"instance", "volume", "network-interface", "spot-instances-request"}

func orderTags(o *order) error {
	o.tags = map[string]tags{}
	for _, kind := range taggable {
		t, err := tagsFor(o.in.TagSpecification, kind, taggable...)
		if err != nil {
			return err
		}
		o.tags[kind] = t
	}
	if len(o.tags["spot-instances-request"]) > 0 && o.in.Market == nil {
		return badCombination("spot-instances-request tags without a Spot request")
	}
	return nil
}
