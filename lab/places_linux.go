package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/hypervisor"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/world"
)

// placeTimeout bounds the boot of a place, on a computer that is busy with others.
const placeTimeout = 20 * time.Second

// placePrefix of a place's machine keeps it apart from those of the doors.
const placePrefix = "place-"

// places are machines that no cloud knows, one for each region, for the user's own
// programs. They are made when the first program enters.
type places struct {
	regions  []world.Region
	machines *hypervisor.Hypervisor
	leash    *os.File // reading end of a pipe that nobody writes to: it closes when this process ends
	tied     *os.File // its writing end

	mu   sync.Mutex
	made map[string]*place // by the machine's id
}

// place is one of them, from the first wish for it on.
type place struct {
	ready chan struct{} // closed when it has booted, or failed
	once  sync.Once
	err   error // set before ready is closed
}

func (p *place) end(err error) { p.once.Do(func() { p.err = err; close(p.ready) }) }

func newPlaces(w *world.World, machines *hypervisor.Hypervisor) (*places, error) {
	p := &places{regions: w.Regions, machines: machines, made: map[string]*place{}}
	var err error
	p.leash, p.tied, err = os.Pipe()
	machines.Watch(p.hear)
	return p, err
}

// list is every region's place, whether it is made or not.
func (p *places) list() []Place {
	var all []Place
	for i, r := range p.regions {
		if i >= hypervisor.MaxPlaces {
			break
		}
		one := Place{Region: r.ID, Name: hostName(r.ID), Address: hypervisor.PlaceAddress(i + 1)}
		if r.IPv6 {
			one.IPv6 = hypervisor.IPv6Besides(one.Address)
		}
		all = append(all, one)
	}
	return all
}

// hostName is a region's in the lab, without the domain.
func hostName(region string) string { return strings.ReplaceAll(region, ":", "-") }

// enter returns the network namespace of a region's place, what runs programs
// there, and the leash that they are to end with.
func (p *places) enter(ctx context.Context, region string) ([]*os.File, error) {
	id, err := p.boot(ctx, region)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", region, err)
	}
	netNS, err := p.netNS(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", region, err)
	}
	program, err := os.Open(machineProgram)
	if err != nil {
		netNS.Close()
		return nil, err
	}
	leash, err := duplicate(p.leash)
	if err != nil {
		netNS.Close()
		program.Close()
		return nil, err
	}
	return []*os.File{netNS, program, leash}, nil
}

// boot returns the id of the region's machine once that is up.
func (p *places) boot(ctx context.Context, region string) (id string, err error) {
	for _, one := range p.list() {
		if one.Region != region {
			continue
		}
		id = placePrefix + region
		p.mu.Lock()
		made := p.made[id]
		if made == nil {
			made = &place{ready: make(chan struct{})}
			p.made[id] = made
			go p.make(made, id, one)
		}
		p.mu.Unlock()
		select {
		case <-made.ready:
			return id, made.err
		case <-ctx.Done():
			return id, ctx.Err()
		}
	}
	return "", errors.New("it is not in the lab's world")
}

// make starts a place's machine, to which everybody is let in. hear has the rest.
func (p *places) make(made *place, id string, one Place) {
	cloud, region, _ := antipode.SplitID(one.Region)
	ctx, cancel := context.WithTimeout(context.Background(), placeTimeout)
	defer cancel()
	_, err := startOpen(ctx, p.machines, vm.Spec{
		ID: id, Cloud: cloud, Region: region, Public: one.Address, IPv6: one.IPv6.IsValid(),
		Hostname: one.Name, User: "lab", Faults: vm.Faults{RefuseSSH: true}, // every port is the user's own
	})
	if err == nil {
		select {
		case <-made.ready:
			return
		case <-ctx.Done():
			err = fmt.Errorf("not up within %v", placeTimeout)
		}
	}
	p.forget(id, err)
	_ = p.machines.Stop(context.Background(), id) // without an end it can't fail
}

// hear notes when a place has booted, and when it is no more.
func (p *places) hear(e vm.Event) {
	p.mu.Lock()
	made := p.made[e.ID]
	p.mu.Unlock()
	switch {
	case made == nil:
	case e.Kind == vm.Booted:
		made.end(nil)
	case e.Kind == vm.Halted:
		p.forget(e.ID, errors.New("its machine ended: the lab's log says why"))
	}
}

// forget lets the next who enters make the place anew.
func (p *places) forget(id string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if made := p.made[id]; made != nil {
		delete(p.made, id)
		made.end(err)
	}
}

// netNS opens a machine's network namespace.
func (p *places) netNS(id string) (*os.File, error) {
	for _, m := range p.machines.Processes() {
		if m.ID == id {
			return openNetNS(m.PID)
		}
	}
	return nil, errors.New("its machine has ended")
}

// openNetNS goes there to open it: /proc may be the host's, which numbers processes
// otherwise.
func openNetNS(pid int) (f *os.File, err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	defer unix.Close(fd)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends in there
		if err = unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
			err = os.NewSyscallError("setns", err)
			return
		}
		f, err = os.Open("/proc/thread-self/ns/net")
	}()
	<-done
	return f, err
}

// startOpen starts a machine that everybody may reach.
func startOpen(ctx context.Context, machines *hypervisor.Hypervisor, spec vm.Spec) (vm.Addresses, error) {
	addresses, err := machines.Start(ctx, spec)
	if err != nil {
		return addresses, err
	}
	everywhere := []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
	return addresses, machines.SetRules(spec.ID, []vm.Rule{{Protocol: "all", ToPort: 65535, Sources: everywhere}})
}

// duplicate returns another descriptor of f.
func duplicate(f *os.File) (*os.File, error) {
	var copied int
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	control := raw.Control(func(fd uintptr) { copied, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(control, err); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(copied), f.Name()), nil
}
