package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/machine"
	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/seqpacket"
	"github.com/antipode-bench/antipode/lab/vm"
)

// plugTimeout bounds the time from the fork of a machine to its link.
const plugTimeout = 20 * time.Second

// guest is one machine, from the reservation of its id until it is gone.
type guest struct {
	spec      vm.Spec
	addresses vm.Addresses
	serial    int // in the lab, from 1
	conn      *seqpacket.Conn
	// tun is a copy of the link's descriptor, -1 with veth. The last close of a
	// TUN takes the kernel tens of milliseconds, in which the router must carry on.
	tun int

	mu      sync.Mutex
	process *os.Process // nil until it is started
	stopped bool        // nobody wants to hear of it any more

	exited chan struct{} // closed when its processes are gone
	gone   chan struct{} // closed when nothing of it is left
}

// region is "cloud:region".
func (g *guest) region() string { return g.spec.Cloud + ":" + g.spec.Region }

// endpoint is the machine as the router sees it.
func (g *guest) endpoint() router.Endpoint {
	addrs := []netip.Addr{g.addresses.Public, g.addresses.Private}
	if g.addresses.IPv6.IsValid() {
		addrs = append(addrs, g.addresses.IPv6)
	}
	return router.Endpoint{
		ID: g.spec.ID, Region: g.region(), MachineType: g.spec.MachineType, Network: g.spec.Network,
		Addrs: addrs,
	}
}

// spawn forks the machine's first process, which then waits for its Boot.
func (g *guest) spawn(s *spawner, c Config) error {
	conn, theirs, err := seqpacket.Pair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := exec.Command(c.Program)
	cmd.Args = []string{"antipode-machine", g.spec.ID}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	cmd.ExtraFiles = []*os.File{theirs} // machine.ControlFD
	if err := s.start(cmd); err != nil {
		conn.Close()
		return explainSpawn(err)
	}
	go func() {
		_ = cmd.Wait() // how a machine ended, its reports tell better
		close(g.exited)
	}()
	g.conn = conn
	g.mu.Lock()
	defer g.mu.Unlock()
	g.process = cmd.Process
	if g.stopped { // before there was anything to kill
		_ = g.process.Kill()
	}
	return nil
}

// plug sends the Boot and returns the link that the machine made, or that was
// made for it.
func (g *guest) plug(ctx context.Context, kind link.Kind) (*link.Link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, plugTimeout, fmt.Errorf("no link within %v", plugTimeout))
	defer cancel()
	defer context.AfterFunc(ctx, g.kill)() // wakes whatever waits for the machine
	l, err := g.plugKind(kind)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return l, err
}

func (g *guest) plugKind(kind link.Kind) (*link.Link, error) {
	if kind == link.TUN {
		return g.plugTUN()
	}
	return g.plugVeth()
}

// plugTUN gets the link from the machine, which makes it in its own namespace.
func (g *guest) plugTUN() (*link.Link, error) {
	files, err := g.boot(link.TUN, "")
	// As a file it would stay with Go's poller, which would wake for every packet.
	defer seqpacket.CloseAll(files)
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("the machine sent %d descriptors for its link", len(files))
	}
	if err != nil {
		return nil, err
	}
	if g.tun, err = duplicate(files[0]); err != nil {
		return nil, err
	}
	fd, err := duplicate(files[0])
	if err != nil {
		return nil, err
	}
	return link.FromFD(fd)
}

// boot sends the Boot and waits until the machine is plugged in.
func (g *guest) boot(kind link.Kind, peerMAC string) ([]*os.File, error) {
	if err := g.conn.Send(g.bootMessage(kind, peerMAC)); err != nil {
		return nil, fmt.Errorf("send boot: %w", err)
	}
	report, files, err := g.receive()
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("the machine died")
	case err != nil:
	case report.Kind == machine.ReportFailed:
		err = errors.New(report.Error)
	case report.Kind != machine.ReportLink:
		err = fmt.Errorf("the machine reported %q before its link", report.Kind)
	}
	return files, err
}

func (g *guest) bootMessage(kind link.Kind, peerMAC string) machine.Boot {
	return machine.Boot{
		ID:             g.spec.ID,
		Hostname:       g.spec.Hostname,
		User:           g.spec.User,
		AuthorizedKeys: g.spec.AuthorizedKeys,
		HostKeyPEM:     g.spec.HostKeyPEM,
		BootCommands:   g.spec.BootCommands,
		BootDelayMs:    float64(g.spec.BootDelay) / float64(time.Millisecond),
		NeverBoot:      g.spec.Faults.NeverBoot,
		RefuseSSH:      g.spec.Faults.RefuseSSH,
		Link: machine.Link{
			Kind: string(kind), Name: linkName, MTU: link.MTU,
			Public: g.addresses.Public, Private: g.addresses.Private, IPv6: g.addresses.IPv6, PeerMAC: peerMAC,
		},
	}
}

func (g *guest) receive() (machine.Report, []*os.File, error) {
	var r machine.Report
	files, err := g.conn.Receive(&r)
	return r, files, err
}

// closeFiles is for when the machine is gone.
func (g *guest) closeFiles() {
	if g.conn != nil {
		g.conn.Close()
	}
	if g.tun >= 0 {
		_ = unix.Close(g.tun)
	}
}

// stop ends the machine without more news of it.
func (g *guest) stop() {
	g.mu.Lock()
	g.stopped = true
	g.mu.Unlock()
	g.kill()
}

// kill ends the machine's first process, and so all of its pid namespace.
func (g *guest) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.process != nil {
		_ = g.process.Kill()
	}
}

// wanted reports whether anybody wants to hear of the machine.
func (g *guest) wanted() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.stopped
}

// pid is 0 until the machine is started.
func (g *guest) pid() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.process == nil {
		return 0
	}
	return g.process.Pid
}
