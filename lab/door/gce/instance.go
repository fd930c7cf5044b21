package gce

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm"
)

// instance is one machine as Compute Engine sees it. What changes is guarded
// by the door's lock.
type instance struct {
	instanceJSON
	door        *Door
	machine     *rack.Machine // nil when it never was to come up
	zone        string
	region      string
	created     time.Time
	machineType machineType
	network     *network
	public      bool // it has an external address
	lifetime    time.Duration
	deadline    *time.Timer   // ends it when its lifetime is over
	taken       time.Duration // so long after its start it is taken away; 0: never
	guest       guestAttributes
	warnings    []string

	started chan struct{} // closed when the machine runs or never will
	failure error         // why it does not
	ending  *ending       // nil before its end was asked for
}

// ending is the end of an instance under way.
type ending struct {
	over chan struct{}
	err  error // set before over is closed
}

type instanceJSON struct {
	meta
	Tags             *tagsJSON         `json:"tags,omitempty"`
	MachineType      string            `json:"machineType,omitempty"`
	Status           string            `json:"status,omitempty"`
	Zone             string            `json:"zone,omitempty"`
	CanIPForward     bool              `json:"canIpForward,omitempty"`
	Interfaces       []interfaceJSON   `json:"networkInterfaces,omitempty"`
	Disks            []attachedJSON    `json:"disks,omitempty"`
	Metadata         *metadataJSON     `json:"metadata,omitempty"`
	ServiceAccounts  []accountJSON     `json:"serviceAccounts,omitempty"`
	Scheduling       *schedulingJSON   `json:"scheduling,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	DeletionProtect  bool              `json:"deletionProtection,omitempty"`
	Shielded         *shieldedJSON     `json:"shieldedInstanceConfig,omitempty"`
	ResourceStatus   *statusJSON       `json:"resourceStatus,omitempty"`
	LastStarted      string            `json:"lastStartTimestamp,omitempty"`
	LastStopped      string            `json:"lastStopTimestamp,omitempty"`
	LabelFingerprint string            `json:"labelFingerprint,omitempty"`
}

type tagsJSON struct {
	Items []string `json:"items,omitempty"`
}

type interfaceJSON struct {
	Kind       string       `json:"kind,omitempty"`
	Name       string       `json:"name,omitempty"`
	Network    string       `json:"network,omitempty"`
	Subnetwork string       `json:"subnetwork,omitempty"`
	Address    string       `json:"networkIP,omitempty"`
	StackType  string       `json:"stackType,omitempty"`
	NicType    string       `json:"nicType,omitempty"`
	Access     []accessJSON `json:"accessConfigs,omitempty"`

	IPv6Access     []ipv6AccessJSON `json:"ipv6AccessConfigs,omitempty"`
	IPv6AccessType string           `json:"ipv6AccessType,omitempty"`
}

type accessJSON struct {
	Kind        string `json:"kind,omitempty"`
	Type        string `json:"type,omitempty"`
	Name        string `json:"name,omitempty"`
	NatIP       string `json:"natIP,omitempty"`
	NetworkTier string `json:"networkTier,omitempty"`
}

type metadataJSON struct {
	Kind        string         `json:"kind,omitempty"`
	Fingerprint string         `json:"fingerprint,omitempty"`
	Items       []metadataItem `json:"items,omitempty"`
}

type metadataItem struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type accountJSON struct {
	Email  string   `json:"email,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
}

type schedulingJSON struct {
	OnHostMaintenance string        `json:"onHostMaintenance,omitempty"`
	AutomaticRestart  *bool         `json:"automaticRestart,omitempty"`
	Preemptible       bool          `json:"preemptible,omitempty"`
	Provisioning      string        `json:"provisioningModel,omitempty"`
	Termination       string        `json:"instanceTerminationAction,omitempty"`
	MaxRunDuration    *durationJSON `json:"maxRunDuration,omitempty"`
}

type durationJSON struct {
	Seconds long `json:"seconds"`
	Nanos   int  `json:"nanos,omitempty"`
}

type shieldedJSON struct {
	SecureBoot bool `json:"enableSecureBoot"`
	VTPM       bool `json:"enableVtpm"`
	Integrity  bool `json:"enableIntegrityMonitoring"`
}

type statusJSON struct {
	Scheduling endJSON `json:"scheduling"`
}

type endJSON struct {
	Termination string `json:"terminationTimestamp,omitempty"`
}

func (m *metadataJSON) get(key string) string {
	if m != nil {
		for _, item := range m.Items {
			if item.Key == key {
				return item.Value
			}
		}
	}
	return ""
}

var _ rack.Tenant = (*instance)(nil)

// Rules implements rack.Tenant.
func (i *instance) Rules() []vm.Rule {
	i.door.mu.Lock()
	defer i.door.mu.Unlock()
	if !i.public {
		return nil
	}
	return i.door.rulesOf(i)
}

// Started implements rack.Tenant.
func (i *instance) Started(a vm.Addresses) {
	i.door.mu.Lock()
	defer i.door.mu.Unlock()
	defer close(i.started)
	nic := &i.Interfaces[0]
	nic.Address = a.Private.String()
	if i.public {
		nic.Access[0].NatIP = a.Public.String()
	}
	i.startedIPv6(a)
	i.LastStarted = timestamp(time.Now())
	if i.Status == "PROVISIONING" || i.Status == "STAGING" {
		i.Status = "RUNNING"
	}
	if i.lifetime > 0 {
		i.ResourceStatus = &statusJSON{endJSON{timestamp(time.Now().Add(i.lifetime))}}
		i.deadline = time.AfterFunc(i.lifetime, i.expire)
	}
	if i.taken > 0 {
		i.door.rack.Go(func(ctx context.Context) {
			if rack.Sleep(ctx, i.taken) == nil {
				i.expire()
			}
		})
	}
}

// Failed implements rack.Tenant.
func (i *instance) Failed(err error) {
	i.door.mu.Lock()
	defer i.door.mu.Unlock()
	i.failure = err
	close(i.started)
}

// Event implements rack.Tenant.
func (i *instance) Event(e vm.Event) {
	i.door.mu.Lock()
	defer i.door.mu.Unlock()
	switch e.Kind {
	case vm.HostKey:
		i.guest.publish(i, e.HostKey)
	case vm.Halted:
		i.stop()
	}
}

// expire ends the machine as it was asked for: its time is over, or it is a
// spot machine that is taken away.
func (i *instance) expire() {
	i.door.mu.Lock()
	defer i.door.mu.Unlock()
	i.door.log.Info("instance at the end of its time", "name", i.Name, "zone", i.zone)
	if i.Scheduling.Termination == "DELETE" {
		i.remove()
	} else {
		i.stop()
	}
}

// stop leaves the instance without its machine. The door must be locked.
func (i *instance) stop() {
	if i.Status == "STOPPING" || i.Status == "TERMINATED" || i.machine == nil {
		return
	}
	before := i.Status
	i.Status = "STOPPING"
	if i.deadline != nil {
		i.deadline.Stop() // the end that was planned is off, as at Google
	}
	i.door.rack.Go(func(context.Context) {
		err := i.machine.Stop()
		i.door.mu.Lock()
		defer i.door.mu.Unlock()
		if i.Status != "STOPPING" || i.ending != nil {
			return // it is being deleted meanwhile
		}
		if err != nil {
			i.door.log.Error("instance not stopped", "name", i.Name, "err", err)
			i.Status = before // it is still there, and can be stopped again
			return
		}
		i.Status, i.LastStopped, i.ResourceStatus = "TERMINATED", timestamp(time.Now()), nil
	})
}

// remove begins the instance's end unless it has begun. The door must be locked.
func (i *instance) remove() *ending {
	if i.ending != nil {
		return i.ending
	}
	end := &ending{over: make(chan struct{})}
	i.ending, i.Status = end, "STOPPING"
	if i.deadline != nil {
		i.deadline.Stop()
	}
	i.door.rack.Go(func(context.Context) {
		if i.machine != nil {
			end.err = i.machine.Stop()
		}
		i.door.mu.Lock()
		defer i.door.mu.Unlock()
		if end.err != nil {
			i.door.log.Error("instance not deleted", "name", i.Name, "err", end.err)
			i.ending = nil // it is still there, and can be deleted again
		} else {
			i.forget()
		}
		close(end.over)
	})
	return end
}

// forget takes the instance and what goes with it out of the project. The
// door must be locked.
func (i *instance) forget() {
	d := i.door
	delete(d.instances, i.zone+"/"+i.Name)
	for key, disk := range d.disks {
		if disk.instance == i && disk.autoDelete {
			delete(d.disks, key)
		} else if disk.instance == i {
			disk.instance = nil
		}
	}
}

var errClosing = errors.New("the lab closes")

// hostKeyAttribute splits an authorized_keys line into the type and the key.
func hostKeyAttribute(line string) (kind, key string) {
	field := strings.Fields(line)
	if len(field) < 2 {
		return "", ""
	}
	return field[0], field[1]
}

// addresses are the instance's, for the inventory.
func (i *instance) addresses() (public, private netip.Addr) {
	nic := i.Interfaces[0]
	private, _ = netip.ParseAddr(nic.Address) // empty before the start
	if len(nic.Access) > 0 {
		public, _ = netip.ParseAddr(nic.Access[0].NatIP)
	}
	return public, private
}
