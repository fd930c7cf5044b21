package ec2

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/antipode-bench/antipode/lab/door/rack"
	"github.com/antipode-bench/antipode/lab/vm"
)

// state is where an instance is in its life. The codes are EC2's.
type state struct {
	code int
	name string
}

var (
	pending      = state{0, "pending"}
	running      = state{16, "running"}
	shuttingDown = state{32, "shutting-down"}
	terminated   = state{48, "terminated"}
	stopping     = state{64, "stopping"}
	stopped      = state{80, "stopped"}
)

// ending says whether there is no way back.
func (s state) ending() bool { return s == shuttingDown || s == terminated }

type stateReason struct {
	Code    string `xml:"code"`
	Message string `xml:"message"`
}

// instance is one machine as EC2 sees it. What changes is guarded by the
// region's lock.
type instance struct {
	resource
	region      *region
	machine     *rack.Machine // nil when it never was to come up
	reservation string
	index       int // within the reservation
	image       image
	kind        machineType
	machineType string
	subnet      *subnet
	groups      []string
	keyName     string
	token       string
	public      bool // it has a public address
	ipv6        bool // and one of IPv6
	metadata    metadataSpec
	spotRequest string        // empty for others
	taken       time.Duration // so long after its start it is taken away; 0: never
	endsOnHalt  bool
	protected   bool // from TerminateInstances
	eni         resource
	warnings    []string

	state  state
	reason stateReason
	addrs  vm.Addresses
	ended  time.Time
}

var _ rack.Tenant = (*instance)(nil)

// Rules implements rack.Tenant.
func (i *instance) Rules() []vm.Rule {
	i.region.mu.Lock()
	defer i.region.mu.Unlock()
	if !i.public || !i.region.online(i.subnet) {
		return nil
	}
	return i.region.rulesOf(i.groups)
}

// Started implements rack.Tenant.
func (i *instance) Started(a vm.Addresses) {
	i.region.mu.Lock()
	defer i.region.mu.Unlock()
	if !i.public {
		a.Public = netip.Addr{}
	}
	i.addrs = a
	if i.state == pending {
		i.state = running
	}
	if i.taken > 0 {
		i.region.door.rack.Go(i.takeAway)
	}
}

// takeAway ends a spot instance when its time has come, as AWS does whose room
// others pay more for.
func (i *instance) takeAway(ctx context.Context) {
	if rack.Sleep(ctx, i.taken) != nil {
		return
	}
	i.region.mu.Lock()
	defer i.region.mu.Unlock()
	if i.state == running {
		i.reason = stateReason{"Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"}
		i.leave(shuttingDown, func() { i.end(time.Now()) })
	}
}

// Failed implements rack.Tenant.
func (i *instance) Failed(err error) {
	i.region.mu.Lock()
	defer i.region.mu.Unlock()
	if i.state != pending {
		return // whoever ends it does the rest
	}
	i.reason = stateReason{"Server.InternalError", "Server.InternalError: " + err.Error()}
	i.end(time.Now())
}

// Event implements rack.Tenant.
func (i *instance) Event(e vm.Event) {
	i.region.mu.Lock()
	defer i.region.mu.Unlock()
	if e.Kind != vm.Halted || i.state.ending() {
		return
	}
	i.reason = stateReason{"Client.InstanceInitiatedShutdown", "Client.InstanceInitiatedShutdown: Instance initiated shutdown"}
	if i.endsOnHalt {
		i.leave(shuttingDown, func() { i.end(time.Now()) })
	} else {
		i.leave(stopping, func() { i.state = stopped })
	}
}

// leave passes through a state while the machine ends, then calls after with
// the region locked, unless something else was decided meanwhile.
func (i *instance) leave(through state, after func()) {
	before := i.state
	i.state = through
	i.region.door.rack.Go(func(context.Context) {
		err := i.machine.Stop()
		i.region.mu.Lock()
		defer i.region.mu.Unlock()
		switch {
		case i.state != through:
		case err != nil:
			i.region.door.log.Error("instance not stopped", "id", i.id, "err", err)
			i.state = before // it is still there, and can be ended again
		default:
			after()
		}
	})
}

// end makes the instance terminated and takes along what goes with it.
func (i *instance) end(now time.Time) {
	i.state, i.ended, i.addrs = terminated, now, vm.Addresses{}
	for id, v := range i.region.volumes {
		if v.instance == i && v.deleteOnTermination {
			delete(i.region.volumes, id)
		} else if v.instance == i {
			v.instance = nil
		}
	}
}

type terminateInput struct {
	InstanceID []string `form:"InstanceId,required"`
}

type terminateAnswer struct {
	reply
	Instances []stateChange `xml:"instancesSet>item"`
}

type stateChange struct {
	ID       string    `xml:"instanceId"`
	Current  stateInfo `xml:"currentState"`
	Previous stateInfo `xml:"previousState"`
}

type stateInfo struct {
	Code int    `xml:"code"`
	Name string `xml:"name"`
}

func (s state) info() stateInfo { return stateInfo{s.code, s.name} }

// terminateInstances ends all or, when one is unknown, none. It sees also
// what reads don't find yet, so that nothing leaks for being new.
func (r *region) terminateInstances(_ *call, in *terminateInput) (*terminateAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.purge()
	if len(in.InstanceID) == 0 {
		return nil, missing("InstanceId")
	}
	for _, id := range in.InstanceID {
		i := r.instances[id]
		if i == nil {
			return nil, instanceNotFound(id)
		}
		if i.protected {
			return nil, bad("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", id)
		}
	}
	answer := &terminateAnswer{}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(in.InstanceID))) {
		i := r.instances[id]
		before := i.state
		if !before.ending() {
			i.reason = stateReason{"Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"}
			i.leave(shuttingDown, func() { i.end(time.Now()) })
		}
		answer.Instances = append(answer.Instances, stateChange{id, i.state.info(), before.info()})
	}
	return answer, nil
}

func instanceNotFound(id string) error {
	if len(id) < 3 || id[:2] != "i-" {
		return bad("InvalidInstanceID.Malformed", "Invalid id: \"%s\"", id)
	}
	return bad("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
}
