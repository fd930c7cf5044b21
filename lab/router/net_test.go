//go:build linux

package router

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/router/link"
	"github.com/antipode-bench/antipode/lab/vm"
	"github.com/antipode-bench/antipode/lab/world"
)

// TestMain gives an ordinary user a user namespace to be root in.
func TestMain(m *testing.M) {
	if os.Getenv(agentEnv) != "" {
		runAgent()
	}
	if os.Geteuid() == 0 {
		os.Exit(m.Run())
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// forEachKind runs the test over both kinds of links. Only outside CI may a
// closed /dev/net/tun leave one out.
func forEachKind(t *testing.T, test func(t *testing.T, kind link.Kind)) {
	for _, kind := range []link.Kind{link.TUN, link.Veth} {
		t.Run(string(kind), func(t *testing.T) {
			if kind == link.TUN && !canTUN(t) {
				t.Skip("no access to /dev/net/tun")
			}
			test(t, kind)
		})
	}
}

// forEachNet runs the test over both kinds of links and both versions of IP.
func forEachNet(t *testing.T, test func(t *testing.T, kind link.Kind, ipv6 bool)) {
	forEachKind(t, func(t *testing.T, kind link.Kind) {
		t.Run("IPv4", func(t *testing.T) { test(t, kind, false) })
		t.Run("IPv6", func(t *testing.T) { test(t, kind, true) })
	})
}

func canTUN(t testing.TB) bool {
	f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err == nil {
		f.Close()
	} else if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	return err == nil
}

// flat is a world of two regions "lab:a" and "lab:b" with machines of one rate
// and the same path both ways.
func flat(t testing.TB, machineBps float64, path string) *world.World {
	t.Helper()
	text := fmt.Sprintf(`
controller: {delay_ms: 0.5}
regions:
- {id: "lab:a", latitude: 0, longitude: 0, egress_bps: %[1]v, ingress_bps: %[1]v}
- {id: "lab:b", latitude: 0, longitude: 0, egress_bps: %[1]v, ingress_bps: %[1]v}
pairs:
- {from: "lab:a", to: "lab:b", %[2]s}
- {from: "lab:b", to: "lab:a", %[2]s}
`, machineBps, path)
	w, err := world.Parse("flat.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// machine is an endpoint with a namespace of its own.
type machine struct {
	*scratch
	addr netip.Addr
	id   string
}

// internet is a router with machines around it.
type internet struct {
	*Router
	host *scratch
	kind link.Kind
	ipv6 bool // addresses of machines to come
	n    byte
}

func newInternet(t testing.TB, kind link.Kind, w *world.World, cost Cost) *internet {
	t.Helper()
	b := &internet{host: space(t), kind: kind}
	var err error
	if b.Router, err = New(Options{World: w, Cost: cost}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Router.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func space(t testing.TB) *scratch {
	t.Helper()
	s, err := newScratch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// machine attaches a machine in the region that lets everybody in.
func (b *internet) machine(t testing.TB, region string) *machine {
	t.Helper()
	b.n++
	m := &machine{scratch: space(t), addr: netip.AddrFrom4([4]byte{198, 18, 0, b.n}), id: fmt.Sprintf("m%d", b.n)}
	if b.ipv6 {
		m.addr = netip.AddrFrom16([16]byte{0x20, 0x01, 0, 2, 15: b.n})
	}
	l, err := m.connect(b.kind, b.host, m.addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Attach(Endpoint{ID: m.id, Region: region, Addrs: []netip.Addr{m.addr}}, l); err != nil {
		t.Fatal(err)
	}
	b.SetRules(m.id, everybody("all"))
	return m
}

// everybody lets the protocol in from everywhere, on every port.
func everybody(protocol string) []vm.Rule {
	all := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	return []vm.Rule{{Protocol: protocol, ToPort: 65535, Sources: all}}
}

func (m *machine) at(port uint16) netip.AddrPort { return netip.AddrPortFrom(m.addr, port) }

func (m *machine) listenUDP(t testing.TB, port uint16) *net.UDPConn {
	t.Helper()
	var c *net.UDPConn
	if err := m.do(func() (err error) {
		c, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(m.at(port)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// listenTCP listens in the machine on a free port.
func (m *machine) listenTCP(t testing.TB) *net.TCPListener {
	t.Helper()
	var l *net.TCPListener
	if err := m.do(func() (err error) {
		l, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(m.at(0)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func addrOf(l net.Listener) netip.AddrPort { return l.Addr().(*net.TCPAddr).AddrPort() }

// dialTCP connects from the machine with the congestion control.
func (m *machine) dialTCP(to netip.AddrPort, congestion string, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, Control: func(_, _ string, raw syscall.RawConn) error {
		var set error
		err := raw.Control(func(fd uintptr) {
			set = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion)
		})
		return errors.Join(err, set)
	}}
	var c net.Conn
	err := m.do(func() (err error) {
		c, err = d.Dial("tcp", to.String())
		return err
	})
	return c, err
}

// eventually waits until a condition holds, which it soon must.
func eventually(t testing.TB, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never happens")
		}
	}
}

// connect opens a TCP connection from a to b, which ends with the test. It skips
// the test where the kernel lacks the congestion control, but not in CI.
func connect(t testing.TB, a, b *machine, congestion string) (out, in net.Conn) {
	t.Helper()
	l := b.listenTCP(t)
	out, err := a.dialTCP(addrOf(l), congestion, patience)
	if errors.Is(err, unix.ENOENT) && os.Getenv("CI") != "true" {
		t.Skipf("this kernel has no %s", congestion)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	in, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return out, in
}
