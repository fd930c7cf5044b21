package gce

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/userdata"
	"github.com/antipode-bench/antipode/lab/vm"
)

// insertInstance makes an instance. What the zone has no room for is accepted,
// and gone again when the operation ends with the reason.
func (q *request) insertInstance() (any, error) {
	var in instanceJSON
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	i, err := q.newInstance(&in)
	if err != nil {
		return nil, err
	}
	d := q.door
	d.instances[i.zone+"/"+i.Name] = i
	switch q.fault {
	case fault.Capacity, fault.LateCapacity:
		return q.operate("insert", i.meta, i.cannot(q.exhausted())), nil
	case fault.Quota:
		return q.operate("insert", i.meta, i.cannot(q.overQuota())), nil
	}
	if short := d.exceeded(i); short != nil {
		return q.operate("insert", i.meta, i.cannot(short)), nil
	}
	i.machine = d.rack.Launch(i.spec(), i)
	return q.operate("insert", i.meta, i.comeUp), nil
}

// cannot is the work of an insert that comes to nothing.
func (i *instance) cannot(why *flop) func(context.Context) *flop {
	return func(context.Context) *flop {
		i.door.mu.Lock()
		defer i.door.mu.Unlock()
		i.forget()
		return why
	}
}

// comeUp is the work of an insert: it ends when the machine runs.
func (i *instance) comeUp(ctx context.Context) *flop {
	select {
	case <-i.started:
	case <-ctx.Done():
	}
	i.door.mu.Lock()
	defer i.door.mu.Unlock()
	if ctx.Err() != nil && i.failure == nil {
		i.failure = errClosing
	}
	if i.failure == nil {
		return nil
	}
	if i.ending == nil { // else whoever deletes it does the rest
		i.forget()
	}
	return internalError(i.failure)
}

// newInstance checks everything that an insert asks for.
func (q *request) newInstance(in *instanceJSON) (*instance, error) {
	if err := cmp.Or(checkName(in.Name), checkLabels("resource.labels", in.Labels)); err != nil {
		return nil, err
	}
	d := q.door
	if d.instances[q.zone+"/"+in.Name] != nil {
		return nil, alreadyExists(d.path("zones", q.zone, "instances", in.Name))
	}
	i := &instance{
		door: d, zone: q.zone, region: q.region, started: make(chan struct{}),
		instanceJSON: instanceJSON{
			Tags: in.Tags, Status: "PROVISIONING", Zone: d.link("zones", q.zone), CanIPForward: in.CanIPForward, Metadata: in.Metadata,
			ServiceAccounts: in.ServiceAccounts, Labels: in.Labels, DeletionProtect: in.DeletionProtect, Shielded: in.Shielded,
			LabelFingerprint: "42WmSpB8rSM=",
		},
	}
	i.meta, i.created = d.newMeta("instance", in.Name, in.About, "zones", q.zone, "instances", in.Name)
	for _, take := range []func(*instance, *instanceJSON) error{
		q.takeType, q.takeInterface, takeScheduling, takeMetadata, takeTags, q.checkPolicies, q.takeDisks, // disks last: they are made
	} {
		if err := take(i, in); err != nil {
			return nil, err
		}
	}
	return i, nil
}

func (q *request) takeType(i *instance, in *instanceJSON) error {
	if in.MachineType == "" {
		return required("resource.machineType")
	}
	part := parseLink(in.MachineType)
	if part["zones"] != q.zone {
		return invalidField("resource.machineType", in.MachineType, "The machine type must be in the instance's zone.")
	}
	t, ok := findType(part["machineTypes"])
	if !ok {
		return invalidField("resource.machineType", in.MachineType,
			fmt.Sprintf("Machine type with name '%s' does not exist in zone '%s'.", part["machineTypes"], q.zone))
	}
	i.machineType, i.MachineType = t, q.door.link("zones", q.zone, "machineTypes", t.name)
	return nil
}

func (q *request) takeInterface(i *instance, in *instanceJSON) error {
	const field = "resource.networkInterfaces"
	if len(in.Interfaces) != 1 {
		return invalidField(field, len(in.Interfaces), "The lab's machines have exactly one network interface.")
	}
	nic := in.Interfaces[0]
	link := nic.Network
	if link == "" && nic.Subnetwork != "" {
		if s := q.door.owner(nic.Subnetwork).subnetworks[q.region+"/"+parseLink(nic.Subnetwork)["subnetworks"]]; s != nil {
			link = s.Network
		}
	}
	n, err := q.door.networkAt(field+"[0].network", cmp.Or(link, "global/networks/default"))
	if err != nil {
		return err
	}
	s, err := q.subnetAt(n, nic.Subnetwork)
	if err != nil {
		return err
	}
	if len(nic.Access) > 1 {
		return invalidField(field+"[0].accessConfigs", len(nic.Access), "At most one access config currently supported.")
	}
	out := interfaceJSON{Kind: "compute#networkInterface", Name: "nic0", Network: n.SelfLink, Subnetwork: s.SelfLink, NicType: nic.NicType}
	if err := i.takeStack(nic, &out, s); err != nil {
		return err
	}
	for _, a := range nic.Access {
		if a.NatIP != "" {
			return invalidField(field+"[0].accessConfigs[0].natIP", a.NatIP, "The specified external IP address was not found in region '"+q.region+"'.")
		}
		if t := cmp.Or(a.NetworkTier, "PREMIUM"); t != "PREMIUM" && t != "STANDARD" {
			return invalidField(field+"[0].accessConfigs[0].networkTier", t, "")
		}
		out.Access = append(out.Access, accessJSON{"compute#accessConfig", "ONE_TO_ONE_NAT", cmp.Or(a.Name, "external-nat"), "", cmp.Or(a.NetworkTier, "PREMIUM")})
		i.public = true
	}
	i.Interfaces, i.network = []interfaceJSON{out}, n
	return nil
}

// maxRunDuration is from half a minute to 120 days.
const (
	minRun = 30 * time.Second
	maxRun = 120 * 24 * time.Hour
)

func takeScheduling(i *instance, in *instanceJSON) error {
	s := schedulingJSON{}
	if in.Scheduling != nil {
		s = *in.Scheduling
	}
	s.Provisioning = cmp.Or(s.Provisioning, "STANDARD")
	if s.Provisioning != "STANDARD" && s.Provisioning != "SPOT" {
		return invalidField("resource.scheduling.provisioningModel", s.Provisioning, "")
	}
	if t := s.Termination; t != "" && t != "DELETE" && t != "STOP" {
		return invalidField("resource.scheduling.instanceTerminationAction", t, "")
	}
	if s.MaxRunDuration != nil {
		if s.Termination == "" {
			return invalidField("resource.scheduling.instanceTerminationAction", "", "It must be set together with maxRunDuration.")
		}
		seconds := s.MaxRunDuration.Seconds
		if seconds < long(minRun.Seconds()) || seconds > long(maxRun.Seconds()) {
			return invalidField("resource.scheduling.maxRunDuration", seconds, "Must be between 30 seconds and 120 days.")
		}
		i.lifetime = time.Duration(seconds) * time.Second
	}
	i.Scheduling = &s
	return nil
}

// maxMetadata is the total length of an instance's metadata, in bytes.
const maxMetadata = 512 << 10

func takeMetadata(i *instance, in *instanceJSON) error {
	if in.Metadata == nil {
		return nil
	}
	seen, total := map[string]bool{}, 0
	for _, item := range in.Metadata.Items {
		if item.Key == "" || len(item.Key) > 128 {
			return invalidField("resource.metadata.items[0].key", item.Key, "")
		}
		if seen[item.Key] {
			return invalidField("resource.metadata", item.Key, "Duplicate metadata keys.")
		}
		seen[item.Key] = true
		total += len(item.Key) + len(item.Value)
	}
	if total > maxMetadata {
		return invalidField("resource.metadata", total, "Metadata size is too large.")
	}
	return nil
}

func takeTags(i *instance, in *instanceJSON) error {
	if in.Tags == nil {
		return nil
	}
	for _, tag := range in.Tags.Items {
		if !resourceName.MatchString(tag) {
			return invalidField("resource.tags.items", tag, "Must be a match of the regex for names.")
		}
	}
	return nil
}

// spec is the machine for the hypervisor, as the guest agent would set it up.
func (i *instance) spec() vm.Spec {
	fate := i.door.faults.Machine(fault.Place{Cloud: "gcp", Region: i.region, Zone: i.zone}, i.Scheduling.Provisioning == "SPOT")
	i.taken = fate.Taken
	spec := vm.Spec{
		ID: fmt.Sprint(uint64(i.ID)), Cloud: "gcp", Region: i.region, Zone: i.zone, MachineType: i.machineType.name,
		Network:  fmt.Sprintf("gcp:%d", uint64(i.network.ID)), // a new one of the same name is another
		IPv6:     i.hasIPv6(),
		Hostname: i.Name, BootDelay: i.door.rack.Duration(i.door.rack.Timing.Boot) + fate.BootDelay, Faults: fate.Faults,
	}
	spec.User, spec.AuthorizedKeys = i.login()
	if script := i.Metadata.get("startup-script"); script != "" {
		boot := userdata.Script(script)
		spec.BootCommands = boot.Commands
		i.warnings = append(i.warnings, boot.Warnings...)
	}
	if i.Metadata.get("user-data") != "" {
		i.warnings = append(i.warnings, "user-data is not read: the lab's Google Cloud images have no cloud-init")
	}
	return spec
}

// login reads the metadata's ssh-keys: lines "USER:TYPE KEY COMMENT". A lab
// machine has one login; the first user gets it.
func (i *instance) login() (user string, keys []string) {
	if isTrue(i.setting("enable-oslogin")) {
		i.warnings = append(i.warnings, "enable-oslogin removes all ssh-keys")
		return "", nil
	}
	byUser := map[string][]string{}
	for line := range strings.Lines(i.Metadata.get("ssh-keys")) {
		name, key, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		user = cmp.Or(user, name)
		byUser[name] = append(byUser[name], key)
	}
	if len(byUser) > 1 {
		i.warnings = append(i.warnings, fmt.Sprintf("ssh-keys name %v, only %q is made", slices.Sorted(maps.Keys(byUser)), user))
	}
	return user, byUser[user]
}
