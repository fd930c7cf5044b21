//go:build linux

package machine

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/crypto/ssh"

	"github.com/antipode-bench/antipode/lab/seqpacket"
)

// limit bounds every wait of a test. It is longer than anything takes that comes
// at all.
const limit = 2 * time.Minute

// fixture is a machine under test and its hypervisor's end of the control socket.
type fixture struct {
	t       *testing.T
	cmd     *exec.Cmd
	control *seqpacket.Conn
	console *bytes.Buffer
	exited  chan struct{}
	addr    netip.Addr
	key     ssh.Signer
	hostKey ssh.PublicKey // from the report
}

// start boots a machine; change alters the Boot it gets. The link is a veth
// pair whose other end, with the router's address, is the test's.
func start(t *testing.T, change func(*Boot)) *fixture {
	t.Helper()
	f := spawn(t)
	private, public := newKey(t)
	f.key = private
	f.addr = netip.MustParseAddr("198.18.0.2")
	b := Boot{
		ID: "m1", Hostname: "machine-1", User: "tester", AuthorizedKeys: []string{public},
		Link: Link{
			Kind: LinkVeth, Name: "eth0", MTU: 1460, Public: f.addr,
			Private: netip.MustParseAddr("10.1.0.2"), PeerMAC: "02:00:00:00:00:01",
		},
	}
	if change != nil {
		change(&b)
	}
	if b.Link.Kind == LinkVeth {
		f.plugVeth(b.Link)
	}
	must(t, f.control.Send(b))
	return f
}

// spawn starts the process of a machine, which then waits for its Boot.
func spawn(t *testing.T) *fixture {
	t.Helper()
	conn, theirs, err := seqpacket.Pair()
	must(t, err)
	f := &fixture{t: t, control: conn, console: &bytes.Buffer{}, exited: make(chan struct{})}
	f.cmd = reexec(t, &syscall.SysProcAttr{Cloneflags: wallFlags, Pdeathsig: syscall.SIGKILL})
	f.cmd.Args[0] = "antipode-machine"
	f.cmd.ExtraFiles[0] = theirs
	f.cmd.Env = []string{asMachine + "=1", "GORACE=atexit_sleep_ms=0"}
	f.cmd.Stdout, f.cmd.Stderr = f.console, f.console
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	go func() { f.cmd.Wait(); close(f.exited) }()
	t.Cleanup(f.stop)
	return f
}

func (f *fixture) stop() {
	f.control.Close()
	f.waitExit()
	if f.t.Failed() {
		f.t.Logf("console:\n%s", f.console)
	}
}

func (f *fixture) waitExit() {
	f.t.Helper()
	select {
	case <-f.exited:
	case <-time.After(limit):
		f.cmd.Process.Kill()
		<-f.exited
		f.t.Error("the machine did not end")
	}
}

// plugVeth does the hypervisor's part for a veth link.
func (f *fixture) plugVeth(l Link) {
	f.t.Helper()
	mac := func(s string) net.HardwareAddr { m, _ := net.ParseMAC(s); return m }
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr = "router0", mac(l.PeerMAC)
	pid := netlink.NsPid(f.cmd.Process.Pid)
	pair := &netlink.Veth{
		LinkAttrs: attrs, PeerName: l.Name, PeerHardwareAddr: mac("02:00:00:00:00:02"), PeerNamespace: pid,
	}
	must(f.t, netlink.LinkAdd(pair))
	f.t.Cleanup(func() { netlink.LinkDel(pair) })
	ours, err := netlink.LinkByName("router0")
	must(f.t, err)
	must(f.t, netlink.LinkSetARPOff(ours))
	must(f.t, netlink.LinkSetUp(ours))
	for own, theirs := range map[string]netip.Addr{"198.18.0.1/15": l.Public, "2001:2::1/48": l.IPv6} {
		if !theirs.IsValid() {
			continue
		}
		addr, _ := netlink.ParseAddr(own)
		must(f.t, netlink.AddrAdd(ours, addr))
		must(f.t, netlink.NeighSet(&netlink.Neigh{
			LinkIndex: ours.Attrs().Index, State: netlink.NUD_PERMANENT,
			IP: theirs.AsSlice(), HardwareAddr: mac("02:00:00:00:00:02"),
		}))
	}
}

// next returns the next report and the file that came with it, or nil.
func (f *fixture) next() (Report, *os.File) {
	f.t.Helper()
	late := time.AfterFunc(limit, func() { f.control.Close() })
	defer late.Stop()
	var r Report
	files, err := f.control.Receive(&r)
	if err != nil {
		f.t.Fatalf("no report: %v\n%s", err, f.console)
	}
	if len(files) == 0 {
		return r, nil
	}
	seqpacket.CloseAll(files[1:])
	return r, files[0]
}

// expect reads reports of exactly these kinds, in this order.
func (f *fixture) expect(kinds ...string) {
	f.t.Helper()
	for _, kind := range kinds {
		r, _ := f.next()
		if r.Kind != kind {
			f.t.Fatalf("report = %+v; want %s\n%s", r, kind, f.console)
		}
		if r.Kind == ReportHostKey {
			key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(r.HostKey))
			must(f.t, err)
			f.hostKey = key
		}
	}
}

// booted waits for the boot's end and connects.
func (f *fixture) booted() *ssh.Client {
	f.t.Helper()
	f.expect(ReportLink, ReportHostKey, ReportBooted)
	client, err := f.connect("tester", f.key)
	must(f.t, err)
	f.t.Cleanup(func() { client.Close() })
	return client
}

func (f *fixture) connect(user string, key ssh.Signer) (*ssh.Client, error) {
	return ssh.Dial("tcp", netip.AddrPortFrom(f.addr, 22).String(), &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)},
		HostKeyCallback: ssh.FixedHostKey(f.hostKey), Timeout: limit / 10,
	})
}

// output runs a command that must succeed and returns what it prints.
func output(t *testing.T, client *ssh.Client, command string) string {
	t.Helper()
	s, err := client.NewSession()
	must(t, err)
	defer s.Close()
	var stderr bytes.Buffer
	s.Stderr = &stderr
	out, err := s.Output(command)
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %s: %s", limit, what)
		}
	}
}

func isExit(err error, status int) error {
	var exit *ssh.ExitError
	if !errors.As(err, &exit) || exit.ExitStatus() != status {
		return fmt.Errorf("ended with %v; want exit status %d", err, status)
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
