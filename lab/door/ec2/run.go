package ec2

import (
	"encoding/base64"
	"maps"
	"slices"
	"time"

	"github.com/antipode-bench/antipode/lab/door/fault"
	"github.com/antipode-bench/antipode/lab/door/userdata"
	"github.com/antipode-bench/antipode/lab/vm"
)

type runInstancesInput struct {
	ImageID           string `form:"ImageId,required"`
	MinCount          int    `form:",required"`
	MaxCount          int    `form:",required"`
	InstanceType      string
	KeyName           string
	UserData          string
	ClientToken       string
	SecurityGroupID   []string `form:"SecurityGroupId"`
	SecurityGroup     []string
	SubnetID          string `form:"SubnetId"`
	Placement         placement
	NetworkInterface  []interfaceSpec
	ShutdownBehavior  string        `form:"InstanceInitiatedShutdownBehavior"`
	BlockDevice       []blockDevice `form:"BlockDeviceMapping"`
	Credits           *creditSpec   `form:"CreditSpecification"`
	Market            *marketSpec   `form:"InstanceMarketOptions"`
	Metadata          *metadataSpec `form:"MetadataOptions"`
	TagSpecification  []tagSpec
	Monitoring        *monitoringSpec
	EBSOptimized      bool `form:"EbsOptimized"`
	ProtectedFromCall bool `form:"DisableApiTermination"`
}

type placement struct {
	AvailabilityZone string
	Tenancy          string
}

type interfaceSpec struct {
	DeviceIndex              int
	AssociatePublicIPAddress *bool `form:"AssociatePublicIpAddress"`
	DeleteOnTermination      *bool
	Description              string
	SecurityGroupID          []string `form:"SecurityGroupId"`
	SubnetID                 string   `form:"SubnetId"`
	InterfaceType            string
	IPv6AddressCount         int `form:"Ipv6AddressCount"`
}

type blockDevice struct {
	DeviceName string
	EBS        ebsSpec `form:"Ebs"`
}

type ebsSpec struct {
	DeleteOnTermination *bool
	VolumeSize          int
	VolumeType          string
	Encrypted           bool
	IOPS                int `form:"Iops"`
	Throughput          int
}

type creditSpec struct {
	CPUCredits string `form:"CpuCredits,required"`
}

type marketSpec struct {
	MarketType  string
	SpotOptions struct {
		MaxPrice             string
		SpotInstanceType     string
		InterruptionBehavior string `form:"InstanceInterruptionBehavior"`
	}
}

type metadataSpec struct {
	HTTPTokens       string `form:"HttpTokens" xml:"httpTokens"`
	HopLimit         int    `form:"HttpPutResponseHopLimit" xml:"httpPutResponseHopLimit"`
	HTTPEndpoint     string `form:"HttpEndpoint" xml:"httpEndpoint"`
	HTTPProtocolIPv6 string `form:"HttpProtocolIpv6" xml:"httpProtocolIpv6"`
	MetadataTags     string `form:"InstanceMetadataTags" xml:"instanceMetadataTags"`
}

type monitoringSpec struct {
	Enabled bool `form:",required"`
}

// launch is one RunInstances call that made something.
type launch struct {
	fingerprint string // of the call, without its token
	reservation string
	instances   []*instance
}

type runInstancesAnswer struct {
	reply
	reservationInfo
}

// runInstances answers when the machines are wanted, not when they run.
func (r *region) runInstances(c *call, in *runInstancesInput) (*runInstancesAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.purge()
	token := in.ClientToken + "|" + c.zone
	made, err := r.repeated(token, c.fingerprint)
	if err != nil {
		return nil, err
	}
	if made == nil {
		o, err := r.order(in)
		if err != nil {
			return nil, err
		}
		if err := r.checkQuota(o); err != nil {
			return nil, err
		}
		o.stillborn = c.lateCapacity
		made = r.launch(o, c.fingerprint)
		if in.ClientToken != "" {
			r.launches[token] = made
		}
	}
	return &runInstancesAnswer{reservationInfo: r.reservation(made.reservation, made.instances)}, nil
}

// repeated finds what an earlier call with the same token made.
func (r *region) repeated(token, fingerprint string) (*launch, error) {
	made := r.launches[token]
	switch {
	case made == nil:
		return nil, nil
	case made.fingerprint != fingerprint:
		return nil, bad("IdempotentParameterMismatch", "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).")
	case slices.ContainsFunc(made.instances, func(i *instance) bool { return i.state == terminated }):
		return nil, bad("IdempotentInstanceTerminated", "The idempotent token belongs to an instance that has been terminated.")
	}
	return made, nil
}

func (r *region) launch(o *order, fingerprint string) *launch {
	made := &launch{fingerprint: fingerprint, reservation: r.door.newID("r")}
	for n := range o.count {
		i := r.newInstance(o, made.reservation, n)
		made.instances = append(made.instances, i)
		r.instances[i.id] = i
		if o.stillborn {
			r.stillborn(i)
		} else {
			i.machine = r.door.rack.Launch(r.machineSpec(o, i), i)
		}
	}
	return made
}

// order is what a valid RunInstances call asks for.
type order struct {
	in        *runInstancesInput
	count     int
	image     image
	kind      machineType
	subnet    *subnet
	groups    []string
	key       string // authorized_keys line, empty without a key pair
	public    bool   // with a public address
	ipv6      bool   // with an IPv6 address
	userData  []byte
	metadata  metadataSpec
	tags      map[string]tags // by resource type
	stillborn bool            // accepted, but there is no capacity after all
}

const maxUserData = 16 << 10

func (r *region) newInstance(o *order, reservation string, n int) *instance {
	i := &instance{
		resource: r.newResource("i", maps.Clone(o.tags["instance"])),
		region:   r, reservation: reservation, index: n,
		image: o.image, kind: o.kind, machineType: o.kind.name, subnet: o.subnet, groups: o.groups, keyName: o.in.KeyName,
		token: o.in.ClientToken, public: o.public, ipv6: o.ipv6, metadata: o.metadata, state: pending,
		endsOnHalt: o.in.ShutdownBehavior == "terminate", protected: o.in.ProtectedFromCall,
		eni: r.newResource("eni", o.tags["network-interface"]),
	}
	if o.in.Market != nil && o.in.Market.MarketType == "spot" {
		i.spotRequest = r.door.newID("sir")
	}
	r.attachVolumes(o, i)
	return i
}

func (r *region) machineSpec(o *order, i *instance) vm.Spec {
	boot := userdata.Parse(o.userData)
	i.warnings = boot.Warnings
	fate := r.door.faults.Machine(fault.Place{Cloud: "aws", Region: r.name, Zone: o.subnet.zone.name}, i.spotRequest != "")
	i.taken = fate.Taken
	spec := vm.Spec{
		ID: i.id, Cloud: "aws", Region: r.name, Zone: o.subnet.zone.name, MachineType: o.kind.name, IPv6: i.ipv6,
		Hostname: i.id, User: o.image.user,
		HostKeyPEM: boot.HostKeyPEM, BootCommands: boot.Commands,
		BootDelay: r.door.rack.Duration(r.door.rack.Timing.Boot) + fate.BootDelay,
		Faults:    fate.Faults,
	}
	if o.key != "" {
		spec.AuthorizedKeys = []string{o.key}
	}
	return spec
}

// stillborn ends an instance as AWS does that found no room for it.
func (r *region) stillborn(i *instance) {
	i.reason = stateReason{"Server.InsufficientInstanceCapacity", "Server.InsufficientInstanceCapacity: no room"}
	i.end(time.Now())
}

func decodeUserData(text string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, bad("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	}
	if len(data) > maxUserData {
		return nil, bad("InvalidParameterValue", "User data is limited to %d bytes", maxUserData)
	}
	return data, nil
}
