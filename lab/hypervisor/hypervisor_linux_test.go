package hypervisor

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/lab/router"
	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/vm"
)

// fakeNetwork holds links and carries nothing.
type fakeNetwork struct {
	mu    sync.Mutex
	links map[string]*link.Link
	rules map[string][]vm.Rule
	fail  error
}

func (n *fakeNetwork) Attach(e router.Endpoint, l *link.Link) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil {
		l.Close()
		return n.fail
	}
	n.links[e.ID] = l
	return nil
}

func (n *fakeNetwork) SetRules(id string, rules []vm.Rule) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rules[id] = rules
}

func (n *fakeNetwork) Detach(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := n.links[id]; l != nil {
		l.Close()
		delete(n.links, id)
	}
}

// patience is longer than anything takes that comes at all.
const patience = 2 * time.Minute

// fixture is a hypervisor with what it reports.
type fixture struct {
	*Hypervisor
	network *fakeNetwork
	events  chan vm.Event
}

func forEachLink(t *testing.T, f func(t *testing.T, x *fixture)) {
	for _, kind := range []link.Kind{link.TUN, link.Veth} {
		t.Run(string(kind), func(t *testing.T) {
			if kind == link.TUN {
				needTUN(t)
			}
			f(t, newFixture(t, kind))
		})
	}
}

// needTUN skips where the device node is closed to us, but never in CI.
func needTUN(t *testing.T) {
	f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err == nil {
		f.Close()
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Skip(err)
}

func newFixture(t *testing.T, kind link.Kind) *fixture {
	t.Helper()
	binary, err := os.ReadFile(os.Getenv(machineVariable))
	if err != nil {
		t.Fatal(err)
	}
	x := &fixture{
		network: &fakeNetwork{links: make(map[string]*link.Link), rules: make(map[string][]vm.Rule)},
		events:  make(chan vm.Event, 1000),
	}
	x.Hypervisor, err = New(Config{
		Machine: binary, Program: filepath.Join(t.TempDir(), "machine"), Link: kind,
		Network: x.network, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	x.Watch(func(e vm.Event) { x.events <- e })
	t.Cleanup(func() {
		for _, p := range x.Processes() {
			if err := x.Stop(context.Background(), p.ID); err != nil {
				t.Error(err)
			}
		}
		x.spawner.close()
	})
	return x
}

func (x *fixture) start(t *testing.T, spec vm.Spec) vm.Addresses {
	t.Helper()
	spec.Cloud, spec.Region, spec.User = "aws", "eu-west-1", "ec2-user"
	a, err := x.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (x *fixture) want(t *testing.T, id string, kind vm.EventKind) vm.Event {
	t.Helper()
	select {
	case e := <-x.events:
		if e.ID != id || e.Kind != kind {
			t.Fatalf("event %+v; want %s of %s", e, kind, id)
		}
		return e
	case <-time.After(patience):
		t.Fatalf("no event; want %s of %s", kind, id)
		return vm.Event{}
	}
}

func TestMachineLifecycle(t *testing.T) {
	forEachLink(t, func(t *testing.T, x *fixture) {
		a := x.start(t, vm.Spec{ID: "i-1"})
		if !publicNet.Contains(a.Public) || !privateNet.Contains(a.Private) {
			t.Errorf("addresses %v are not the lab's", a)
		}
		if e := x.want(t, "i-1", vm.HostKey); !strings.HasPrefix(e.HostKey, "ssh-ed25519 ") {
			t.Errorf("host key %q; want an ed25519 key", e.HostKey)
		}
		x.want(t, "i-1", vm.Booted)
		if err := x.SetRules("i-1", []vm.Rule{{Protocol: "all"}}); err != nil {
			t.Error(err)
		}
		pid := x.Processes()[0].PID
		for range 2 {
			if err := x.Stop(t.Context(), "i-1"); err != nil {
				t.Errorf("Stop = %v", err)
			}
		}
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("process %d after Stop: %v; want %v", pid, err, syscall.ESRCH)
		}
		if err := x.SetRules("i-1", nil); err == nil {
			t.Error("SetRules works after Stop")
		}
		if len(x.events) > 0 {
			t.Errorf("event %+v after Stop; want none", <-x.events)
		}
		if left := x.Processes(); len(left) > 0 {
			t.Errorf("Processes = %v after Stop; want none", left)
		}
		wantNoDevices(t)
	})
}

// wantNoDevices waits for the kernel to take away what was a machine's.
func wantNoDevices(t *testing.T) {
	t.Helper()
	for by := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		left, _ := net.Interfaces()
		if len(left) <= 1 { // loopback
			return
		}
		if time.Now().After(by) {
			t.Fatalf("devices left: %v", left)
		}
	}
}

func TestHalts(t *testing.T) {
	forEachLink(t, func(t *testing.T, x *fixture) {
		t.Run("powers off", func(t *testing.T) {
			x.start(t, vm.Spec{ID: "off", BootCommands: []string{"poweroff; sleep 100"}})
			x.want(t, "off", vm.Halted)
		})
		t.Run("is killed", func(t *testing.T) {
			x.start(t, vm.Spec{ID: "killed"})
			x.want(t, "killed", vm.HostKey)
			x.want(t, "killed", vm.Booted)
			syscall.Kill(x.Processes()[0].PID, syscall.SIGKILL)
			x.want(t, "killed", vm.Halted)
		})
		if left := x.Processes(); len(left) > 0 {
			t.Errorf("Processes = %v; want none", left)
		}
	})
}

func TestFaults(t *testing.T) {
	forEachLink(t, func(t *testing.T, x *fixture) {
		x.start(t, vm.Spec{ID: "never", Faults: vm.Faults{NeverBoot: true}})
		x.start(t, vm.Spec{ID: "later", BootDelay: time.Hour})
		x.start(t, vm.Spec{ID: "no-ssh", Faults: vm.Faults{RefuseSSH: true}})
		x.want(t, "no-ssh", vm.HostKey)
		x.want(t, "no-ssh", vm.Booted)
		if n := len(x.Processes()); n != 3 {
			t.Errorf("%d machines run; want 3", n)
		}
	})
}

func TestStartFails(t *testing.T) {
	forEachLink(t, func(t *testing.T, x *fixture) {
		x.start(t, vm.Spec{ID: "there", Faults: vm.Faults{NeverBoot: true}})
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		cases := []struct {
			name, id, want string
			ctx            context.Context
			fail           error
		}{
			{name: "same id", id: "there", want: "there already"},
			{name: "cancelled", id: "new", ctx: cancelled, want: context.Canceled.Error()},
			{name: "network refuses", id: "new", fail: io.ErrNoProgress, want: io.ErrNoProgress.Error()},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				x.network.fail = c.fail
				if c.ctx == nil {
					c.ctx = t.Context()
				}
				_, err := x.Start(c.ctx, vm.Spec{ID: c.id, Cloud: "aws", Region: "eu-west-1", User: "u"})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Start = %v; want %q", err, c.want)
				}
				if n := len(x.Processes()); n != 1 {
					t.Errorf("%d machines run; want 1", n)
				}
			})
		}
	})
}

func TestNoProgram(t *testing.T) {
	h, err := New(Config{Program: filepath.Join(t.TempDir(), "machine"), Network: &fakeNetwork{}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.spawner.close()
	if _, err := h.Start(t.Context(), vm.Spec{ID: "i-1"}); err == nil || !strings.Contains(err.Error(), "machine binary") {
		t.Errorf("Start = %v; want that the machine binary is missing", err)
	}
}

// TestManyMachines starts as many machines as a large sweep has.
func TestManyMachines(t *testing.T) {
	const machines = 46
	forEachLink(t, func(t *testing.T, x *fixture) {
		begun := time.Now()
		var starts sync.WaitGroup
		for i := range machines {
			starts.Go(func() {
				_, err := x.Start(t.Context(), vm.Spec{ID: fmt.Sprint("m", i), Cloud: "gcp", Region: "us-east1", User: "u"})
				if err != nil {
					t.Error(err)
				}
			})
		}
		starts.Wait()
		t.Logf("%d machines plugged in after %v", machines, time.Since(begun))
		for range 2 * machines { // a host key and the end of the boot
			<-x.events
		}
		t.Logf("booted after %v", time.Since(begun))
		begun = time.Now()
		var stops sync.WaitGroup
		for i := range machines {
			stops.Go(func() {
				if err := x.Stop(t.Context(), fmt.Sprint("m", i)); err != nil {
					t.Error(err)
				}
			})
		}
		stops.Wait()
		t.Logf("gone after %v", time.Since(begun))
	})
}
