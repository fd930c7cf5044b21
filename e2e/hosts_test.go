package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/results"
)

// TestHosts sweeps three hosts that are already there: network namespaces
// with Debian's OpenSSH server in each, and a fourth for the controller.
func TestHosts(t *testing.T) {
	t.Parallel()
	sshd := needSSHD(t)
	u := newUser(t, 0)
	n := newNetwork(t)
	known := n.startHosts(t, sshd, u.dir, "attic", "cellar", "shed")
	inventory := filepath.Join(u.dir, "hosts.yaml")
	write(t, inventory, fmt.Sprintf(`hosts:
- {name: attic, address: %s, port: 2222, user: root, key: id, known_hosts: known_hosts, at: "aws:eu-central-1"}
- {name: cellar, address: %s, port: 2222, user: root, key: id, known_hosts: known_hosts, at: "gcp:europe-west3", probe_port: 9000}
- {name: shed, address: %s, port: 2222, user: root, key: id, host_key: "%s"}
`, n.address("attic"), n.address("cellar"), n.address("shed"), known["shed"]))
	n.close(t, "shed", 8462)

	o := u.runIn(t, n.spaces["controller"], 2*time.Minute, "sweep", "--hosts", inventory, "--duration", "500ms", "--rtt-probes", "5")
	o.want(t, 3, "6 pairs: 4 ok, 2 failed", "nothing is left", "hosts: 3 machines you already have")
	for _, r := range readRows(t, u.runFolder(t)) {
		if r.FromCloud != "hosts" || r.ToCloud != "hosts" || r.FromMachine != "host" {
			t.Errorf("row %+v", r)
		}
		if placed := r.FromRegion != "shed" && r.ToRegion != "shed"; placed != (r.DistanceKm != nil) {
			t.Errorf("%s > %s: distance %v", r.FromRegion, r.ToRegion, r.DistanceKm)
		}
		closed := r.ToRegion == "shed"
		if closed != (r.Status == results.StatusFailed) || closed && !strings.Contains(r.Error, "is port 8462 (TCP and UDP) of hosts:shed open to "+n.address(r.FromRegion)) {
			t.Errorf("%s > %s: %s, %s", r.FromRegion, r.ToRegion, r.Status, r.Error)
		}
	}
	n.checkClean(t, u.dir)
	t.Logf("three hosts in %v", o.took.Round(100*time.Millisecond))

	// Over IPv6: to an address of its own, one that SSH goes to as well, and none.
	six := filepath.Join(u.dir, "six.yaml")
	write(t, six, fmt.Sprintf(`hosts:
- {name: attic, address: %s, address6: "%s", port: 2222, user: root, key: id, known_hosts: known_hosts}
- {name: cellar, address: %s, port: 2222, user: root, key: id, known_hosts: known_hosts}
- {name: shed, address: "%s", port: 2222, user: root, key: id, host_key: "%s"}
`, n.address("attic"), ipv6Of("attic"), n.address("cellar"), ipv6Of("shed"), known["shed"]))
	o = u.runIn(t, n.spaces["controller"], 2*time.Minute, "sweep", "--hosts", six, "--ip", "6", "--out", filepath.Join(u.dir, "six"),
		"--duration", "500ms", "--rtt-probes", "5", "--udp-rate", "10M")
	o.want(t, 0, "6 pairs: 2 ok, 0 failed, 4 skipped", "nothing is left")
	for _, r := range readRows(t, onlyFolder(t, filepath.Join(u.dir, "six"))) {
		skipped := r.FromRegion == "cellar" || r.ToRegion == "cellar"
		switch {
		case r.IPVersion != "6":
			t.Errorf("row %+v", r)
		case skipped && (r.Status != results.StatusSkipped || !strings.Contains(r.Error, "no IPv6 address")):
			t.Errorf("%s > %s: %s, %s", r.FromRegion, r.ToRegion, r.Status, r.Error)
		case !skipped:
			checkIPv6(t, r)
			if r.RTTICMPP50Ms == nil || r.MSSBytes == nil || *r.MSSBytes != 1428 {
				t.Errorf("%s > %s: no answer to ICMPv6's echoes, or an odd MSS: %s", r.FromRegion, r.ToRegion, asJSON(r))
			}
		}
	}
	n.checkClean(t, u.dir)
	t.Logf("three hosts over IPv6 in %v", o.took.Round(100*time.Millisecond))

	// Another host key is an error at once, and no question.
	write(t, filepath.Join(u.dir, "known_hosts"), strings.ReplaceAll(readFile(t, u.dir, "known_hosts"), known["attic"], known["cellar"]))
	o = u.runIn(t, n.spaces["controller"], time.Minute, "sweep", "--hosts", inventory, "--pairs", "attic>cellar", "--duration", "500ms")
	o.want(t, 3, "host key", "not the machine that is meant")
	n.checkClean(t, u.dir)
}

// checkIPv6 looks for what only IPv6 makes of a row: its header is 20 bytes
// longer than IPv4's, and 12 go to TCP's time stamps. A receiver that knows of a
// smaller MTU the other way asks for smaller segments.
func checkIPv6(t *testing.T, r results.Row) {
	t.Helper()
	const headers = 40 + 20 + 12
	if r.Status != results.StatusOK || r.IPVersion != "6" || r.MSSBytes == nil || r.PathMTUBytes == nil || *r.MSSBytes > *r.PathMTUBytes-headers ||
		r.FromAddressKind != "public" || r.ToAddressKind != "public" || r.TCPConnectMs == nil {
		t.Errorf("row %s", asJSON(r))
	}
	if r.UDPDatagramBytes != nil && *r.UDPDatagramBytes > *r.PathMTUBytes-48 {
		t.Errorf("%d bytes of UDP on a path of %d", *r.UDPDatagramBytes, *r.PathMTUBytes)
	}
}

// asJSON shows what pointers point to.
func asJSON(r results.Row) string {
	text, _ := json.Marshal(r) // of numbers and text
	return string(text)
}

func needSSHD(t *testing.T) string {
	t.Helper()
	const sshd = "/usr/sbin/sshd"
	_, err := os.Stat(sshd)
	if err == nil && os.Getuid() == 0 {
		return sshd
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("needs root and %s (Debian's openssh-server): %v", sshd, err)
	}
	t.Skipf("needs root and %s (Debian's openssh-server): %v", sshd, err)
	return ""
}

// network is namespaces on one bridge, which has a namespace of its own.
type network struct {
	bridge netns.NsHandle
	spaces map[string]netns.NsHandle
}

// addresses are of the range for benchmarks, RFC 2544.
var addresses = map[string]string{"controller": "198.18.7.1", "attic": "198.18.7.2", "cellar": "198.18.7.3", "shed": "198.18.7.4"}

func (n *network) address(name string) string { return addresses[name] }

// ipv6Of is of the range for benchmarks too, RFC 5180.
func ipv6Of(name string) string {
	return strings.Replace(addresses[name], "198.18.7.", "2001:2::7:", 1)
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{bridge: newSpace(t), spaces: map[string]netns.NsHandle{}}
	inside(t, n.bridge, func() error {
		return up(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "bridge"}})
	})
	for name, address := range addresses {
		n.spaces[name] = newSpace(t)
		n.plug(t, name, address)
	}
	return n
}

// plug joins a namespace to the bridge.
func (n *network) plug(t *testing.T, name, address string) {
	t.Helper()
	inside(t, n.bridge, func() error {
		bridge, err := netlink.LinkByName("bridge")
		if err != nil {
			return err
		}
		attrs := netlink.LinkAttrs{Name: name, MasterIndex: bridge.Attrs().Index}
		return up(&netlink.Veth{LinkAttrs: attrs, PeerName: "eth0", PeerNamespace: netlink.NsFd(n.spaces[name])})
	})
	inside(t, n.spaces[name], func() error {
		for _, device := range []string{"lo", "eth0"} {
			link, err := netlink.LinkByName(device)
			if err != nil {
				return err
			}
			if err := netlink.LinkSetUp(link); err != nil {
				return err
			}
		}
		link, err := netlink.LinkByName("eth0")
		if err != nil {
			return err
		}
		// Nobody else has the address, and looking for that takes a second.
		six := &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(ipv6Of(name)), Mask: net.CIDRMask(112, 128)}, Flags: unix.IFA_F_NODAD}
		if err := netlink.AddrAdd(link, six); err != nil {
			return err
		}
		return netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(address), Mask: net.CIDRMask(24, 32)}})
	})
}

func up(link netlink.Link) error {
	if err := netlink.LinkAdd(link); err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

// close drops what comes to a port of a host, as a firewall would. Rules come
// before the table of local addresses only once that has moved down.
func (n *network) close(t *testing.T, name string, port uint16) {
	t.Helper()
	inside(t, n.spaces[name], func() error {
		local := netlink.NewRule()
		local.Family, local.Table, local.Priority = netlink.FAMILY_V4, 255, 10
		drop := netlink.NewRule()
		drop.Family, drop.Priority, drop.Type = netlink.FAMILY_V4, 5, 6 // RTN_BLACKHOLE
		drop.IifName, drop.Dport = "eth0", netlink.NewRulePortRange(port, port)
		first := netlink.NewRule()
		first.Family, first.Table, first.Priority = netlink.FAMILY_V4, 255, 0
		for _, add := range []*netlink.Rule{local, drop} {
			if err := netlink.RuleAdd(add); err != nil {
				return fmt.Errorf("add %v: %w", add, err)
			}
		}
		return netlink.RuleDel(first)
	})
}

// newSpace makes a network namespace, which lives as long as something is in it
// or the test runs.
func newSpace(t *testing.T) (space netns.NsHandle) {
	t.Helper()
	onThread(t, func() (err error) {
		space, err = netns.New()
		return err
	})
	t.Cleanup(func() { space.Close() })
	return space
}

// inside runs f in a namespace.
func inside(t *testing.T, space netns.NsHandle, f func() error) {
	t.Helper()
	onThread(t, func() error {
		if err := netns.Set(space); err != nil {
			return err
		}
		return f()
	})
}

// onThread runs f on a thread that ends with it, so that nothing else gets
// into its namespace.
func onThread(t *testing.T, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		defer close(done)      // also when f gives the test up
		runtime.LockOSThread() // for good
		done <- f()
	}()
	if err := <-done; err != nil || t.Failed() {
		t.Fatal(err)
	}
}

// runIn runs the command in a namespace.
func (u user) runIn(t *testing.T, space netns.NsHandle, limit time.Duration, args ...string) (o outcome) {
	t.Helper()
	inside(t, space, func() error {
		o = u.run(t, limit, args...)
		return nil
	})
	return o
}

// startHosts starts sshd in each namespace, writes id and known_hosts (without
// shed) into dir, and returns the host keys.
func (n *network) startHosts(t *testing.T, sshd, dir string, names ...string) map[string]string {
	t.Helper()
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd's privilege separation insists
		t.Fatal(err)
	}
	keygen(t, filepath.Join(dir, "id"))
	keys, known := map[string]string{}, ""
	for _, name := range names {
		home := filepath.Join(dir, name)
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		keys[name] = keygen(t, filepath.Join(home, "host_key"))
		if name != "shed" {
			known += fmt.Sprintf("[%s]:2222 %s\n", n.address(name), keys[name])
		}
		write(t, filepath.Join(home, "config"), fmt.Sprintf("ListenAddress %s:2222\nHostKey %s/host_key\nAuthorizedKeysFile %s/id.pub\n"+
			"PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\nSetEnv SHLVL=2 TMPDIR=%[2]s HOME=%[2]s\nListenAddress [%[4]s]:2222\n", n.address(name), home, dir, ipv6Of(name)))
		n.startSSHD(t, name, sshd, filepath.Join(home, "config"))
	}
	write(t, filepath.Join(dir, "known_hosts"), known)
	return keys
}

func (n *network) startSSHD(t *testing.T, name, sshd, config string) {
	t.Helper()
	cmd := exec.Command(sshd, "-D", "-e", "-f", config)
	var log buffer
	cmd.Stderr = &log
	inside(t, n.spaces[name], cmd.Start)
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("sshd of %s:\n%s", name, log.String())
		}
	})
	eventually(t, 10*time.Second, "sshd of "+name, func() bool { return strings.Count(log.String(), "Server listening") == 2 })
}

// keygen makes a key pair and returns its public half.
func keygen(t *testing.T, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	words := strings.Fields(readFile(t, filepath.Dir(path), filepath.Base(path)+".pub"))
	return words[0] + " " + words[1]
}

func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// checkClean looks for agents and pushed files on the hosts.
func (n *network) checkClean(t *testing.T, dir string) {
	t.Helper()
	for name, space := range n.spaces {
		want := fmt.Sprintf("net:[%d]", inode(t, space))
		for _, p := range processes() {
			ns, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", p.pid))
			if ns == want && strings.Contains(p.command, "antipode-probe") {
				t.Errorf("still runs on %s: %s", name, p.command)
			}
		}
	}
	for _, place := range []string{dir + "/*", "/root", "/tmp", "/var/tmp"} {
		if left, _ := filepath.Glob(place + "/antipode.????????"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func inode(t *testing.T, space netns.NsHandle) uint64 {
	t.Helper()
	var s unix.Stat_t
	if err := unix.Fstat(int(space), &s); err != nil {
		t.Fatal(err)
	}
	return s.Ino
}
