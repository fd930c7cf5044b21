//go:build linux

package machine

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
)

func newKey(t *testing.T) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	key, err := ssh.NewSignerFromKey(private)
	must(t, err)
	return key, string(ssh.MarshalAuthorizedKey(key.PublicKey()))
}

func testBoot(t *testing.T) {
	begin := time.Now()
	client := start(t, nil).booted()
	t.Logf("spawned, booted and connected in %s", time.Since(begin))
	for command, want := range map[string]string{
		"hostname":           "machine-1",
		"id -u":              "0",
		"pwd":                "/home/tester",
		`echo "$HOME $USER"`: "/home/tester tester",
		"ls /sys/class/net":  "eth0\nlo",
		"cat /sys/class/net/eth0/mtu /proc/sys/net/ipv4/tcp_orphan_retries": "1460\n1",
		"cat /sys/class/net/eth0/tx_queue_len":                              "5000",
		"head -c 1000000 /dev/zero | wc -c":                                 "1000000",
		"command -v shutdown; command -v sudo":                              "/run/antipode/bin/shutdown\n/run/antipode/bin/sudo",
		"sudo -n -u root -- sh -c 'echo $0' ":                               "sh",
		"ls /proc/self/fd | tr '\\n' ' '":                                   "0 1 2 3", // 3 is ls's own
	} {
		if got := output(t, client, command); got != want {
			t.Errorf("%s = %q; want %q", command, got, want)
		}
	}
}

func testOwnFiles(t *testing.T) {
	client := start(t, nil).booted()
	for _, dir := range []string{"/tmp", "/var/tmp", "/run", "/home", "/root", "/dev/shm", "~"} {
		output(t, client, "echo x > "+dir+"/own && rm "+dir+"/own")
	}
	s, err := client.NewSession()
	must(t, err)
	out, err := s.CombinedOutput("echo x > /etc/antipode-test")
	if err == nil || !strings.Contains(string(out), "ead-only") {
		t.Errorf("write to /etc = %q, %v; want a read-only file system", out, err)
	}
	if got := output(t, client, "cat /proc/1/comm; ls -d /proc/[1-9]* | wc -l"); strings.Count(got, "\n") != 1 || len(got) > 40 {
		t.Errorf("processes seen: %q; want the machine's own only", got)
	}
}

func testExec(t *testing.T) {
	client := start(t, nil).booted()
	session := func() *ssh.Session {
		s, err := client.NewSession()
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	t.Run("Streams", func(t *testing.T) {
		s := session()
		var stdout, stderr bytes.Buffer
		in := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB: twice a channel's window
		s.Stdin, s.Stdout, s.Stderr = bytes.NewReader(in), &stdout, &stderr
		err := s.Run("echo err >&2; cat; exit 7")
		if err := isExit(err, 7); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(stdout.Bytes(), in) || stderr.String() != "err\n" {
			t.Errorf("%d bytes and %q came back; want %d and err", stdout.Len(), &stderr, len(in))
		}
	})
	t.Run("IgnoredInput", func(t *testing.T) {
		s := session()
		in, err := s.StdinPipe()
		must(t, err)
		must(t, s.Start("exec 0</dev/null; until [ -e /tmp/go ]; do sleep 0.01; done"))
		if _, err := io.CopyN(in, zeros{}, 8<<20); err != nil { // four windows
			t.Errorf("a command that reads nothing stalls its client: %v", err)
		}
		output(t, client, "touch /tmp/go")
		must(t, s.Wait())
	})
	t.Run("Signal", func(t *testing.T) {
		s := session()
		out, err := s.StdoutPipe()
		must(t, err)
		must(t, s.Start("echo ready; exec sleep 1000"))
		io.ReadFull(out, make([]byte, 6))
		must(t, s.Signal(ssh.SIGTERM))
		var exit *ssh.ExitError
		if err := s.Wait(); !errors.As(err, &exit) || exit.Signal() != "TERM" {
			t.Errorf("ended with %v; want signal TERM", err)
		}
	})
	t.Run("SessionLimit", func(t *testing.T) {
		var open []*ssh.Session
		for range 11 {
			s, err := client.NewSession()
			if err != nil {
				break
			}
			open = append(open, s)
		}
		for _, s := range open {
			s.Close()
		}
		if len(open) > 10 {
			t.Errorf("%d sessions opened; want at most 10, as with sshd", len(open))
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// testNoStrays cuts a connection: what ran in its sessions must end, even if
// it ignores the hang-up.
func testNoStrays(t *testing.T) {
	f := start(t, nil)
	watch := f.booted()
	for _, command := range []string{"sleep 1000 & wait", "trap '' HUP; sleep 1000; sleep 1000"} {
		client, err := f.connect("tester", f.key)
		must(t, err)
		s, err := client.NewSession()
		must(t, err)
		must(t, s.Start(command))
		count := func() string { return output(t, watch, "cat /proc/[1-9]*/comm | grep -c sleep || true") }
		eventually(t, "the command runs", func() bool { return count() == "1" })
		client.Close()
		eventually(t, "no sleep is left", func() bool { return count() == "0" })
	}
}

func testOrphans(t *testing.T) {
	client := start(t, nil).booted()
	output(t, client, "for i in 1 2 3 4 5; do (sleep 0.01 </dev/null >/dev/null 2>&1 &); done")
	eventually(t, "all orphans are reaped", func() bool {
		return output(t, client, "grep -l '^State:.Z' /proc/[1-9]*/status | wc -l") == "0" &&
			output(t, client, "cat /proc/[1-9]*/comm | grep -c sleep || true") == "0"
	})
}

func testManyClients(t *testing.T) {
	f := start(t, nil)
	f.booted()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			client, err := f.connect("tester", f.key)
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close()
			s, err := client.NewSession()
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Run("true"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func testWrongClients(t *testing.T) {
	f := start(t, nil)
	f.booted()
	stranger, _ := newKey(t)
	if _, err := f.connect("tester", stranger); err == nil {
		t.Error("a stranger's key was accepted")
	}
	if _, err := f.connect("root", f.key); err == nil {
		t.Error("another user was accepted")
	}
}

func testBootCommands(t *testing.T) {
	begin := time.Now()
	client := start(t, func(b *Boot) {
		b.BootDelayMs = 300
		b.BootCommands = []string{"echo one $USER > /tmp/out", "exit 3", "echo two >> /tmp/out", "kill -9 $$"}
	}).booted()
	if took := time.Since(begin); took < 300*time.Millisecond {
		t.Errorf("booted in %s; want 300 ms at least", took)
	}
	if got := output(t, client, "cat /tmp/out"); got != "one root\ntwo" {
		t.Errorf("boot commands left %q", got)
	}
}

func testPower(t *testing.T) {
	for _, command := range []string{
		"shutdown -P now", "sudo shutdown -h +0 bye", "poweroff", "shutdown -P +9; shutdown -c; shutdown -P +0",
	} {
		t.Run(command, func(t *testing.T) {
			f := start(t, nil)
			s, err := f.booted().NewSession()
			must(t, err)
			s.Run(command) // ends with the machine, somehow
			f.expect(ReportHalted)
			f.waitExit()
		})
	}
	t.Run("AtBoot", func(t *testing.T) {
		f := start(t, func(b *Boot) { b.BootCommands = []string{"shutdown -P +60", "poweroff; sleep 100"} })
		f.expect(ReportLink, ReportHalted)
		f.waitExit()
	})
	t.Run("Reboot", func(t *testing.T) {
		f := start(t, func(b *Boot) {
			b.BootCommands = []string{"echo boot >> /tmp/boots", "sleep 1000 </dev/null >/dev/null 2>&1 &"}
		})
		before := f.booted()
		s, err := before.NewSession()
		must(t, err)
		must(t, s.Start("reboot; sleep 1000"))
		var after *ssh.Client
		eventually(t, "a machine that has booted twice", func() bool {
			var err error
			if after, err = f.connect("tester", f.key); err != nil {
				return false
			}
			t.Cleanup(func() { after.Close() })
			s, err := after.NewSession()
			if err != nil {
				return false
			}
			out, _ := s.Output("cat /tmp/boots")
			return string(out) == "boot\nboot\n"
		})
		if _, err := before.NewSession(); err == nil {
			t.Error("a connection outlived the reboot")
		}
		if got := output(t, after, "pgrep -c -x sleep"); got != "1" {
			t.Errorf("%s processes sleep, want only that of the second boot", got)
		}
	})
	t.Run("HaltLeavesThePowerOn", func(t *testing.T) {
		f := start(t, nil)
		s, err := f.booted().NewSession()
		must(t, err)
		must(t, s.Start("halt; sleep 1000"))
		eventually(t, "nothing answers", func() bool {
			conn, err := net.DialTimeout("tcp", "198.18.0.2:22", 50*time.Millisecond)
			if err == nil {
				conn.Close()
			}
			return err != nil
		})
		select {
		case <-f.exited:
			t.Error("the machine ended")
		default:
		}
	})
}

func testFaults(t *testing.T) {
	dial := func(limit time.Duration) error {
		conn, err := net.DialTimeout("tcp", "198.18.0.2:22", limit)
		if err == nil {
			conn.Close()
		}
		return err
	}
	t.Run("NeverBoot", func(t *testing.T) {
		f := start(t, func(b *Boot) { b.NeverBoot = true })
		f.expect(ReportLink)
		var timeout net.Error
		if err := dial(500 * time.Millisecond); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("dial = %v; want a time-out", err)
		}
	})
	t.Run("RefuseSSH", func(t *testing.T) {
		f := start(t, func(b *Boot) { b.RefuseSSH = true })
		f.expect(ReportLink, ReportHostKey, ReportBooted)
		if err := dial(limit); !errors.Is(err, unix.ECONNREFUSED) {
			t.Errorf("dial = %v; want refused", err)
		}
	})
	for name, change := range map[string]func(*Boot){
		"User":    func(b *Boot) { b.User = "../root" },
		"HostKey": func(b *Boot) { b.HostKeyPEM = []byte("none") },
		"MTU":     func(b *Boot) { b.Link.MTU = 1 },
	} {
		t.Run("Bad"+name, func(t *testing.T) {
			f := start(t, change)
			r, _ := f.next()
			if r.Kind == ReportLink {
				r, _ = f.next()
			}
			if r.Kind != ReportFailed || r.Error == "" {
				t.Errorf("report = %+v; want failed with an error", r)
			}
			f.waitExit()
		})
	}
}

func testHangUp(t *testing.T) {
	t.Run("BeforeBoot", func(t *testing.T) {
		f := spawn(t)
		f.control.Close()
		f.waitExit()
	})
	t.Run("WhileServing", func(t *testing.T) {
		begin := time.Now()
		f := start(t, nil)
		s, err := f.booted().NewSession()
		must(t, err)
		must(t, s.Start("trap '' HUP TERM; sleep 1000"))
		t.Logf("started after %s", time.Since(begin))
		begin = time.Now()
		f.control.Close()
		f.waitExit()
		t.Logf("off after %s", time.Since(begin))
	})
}

// testTUN checks what a router sees at the other end of the machine's link.
// testIPv6 reaches a machine at either address.
func testIPv6(t *testing.T) {
	f := start(t, func(b *Boot) { b.Link.IPv6 = netip.MustParseAddr("2001:2::2") })
	client := f.booted()
	for command, want := range map[string]string{
		"grep -c eth0 /proc/net/if_inet6":                       "1", // and no link-local one
		"cut -d' ' -f1 /proc/net/if_inet6 | grep -v ^0000":      "20010002000000000000000000000002",
		"cat /sys/class/net/eth0/mtu":                           "1460",
		"grep -c '^0\\{32\\} 00 .* eth0$' /proc/net/ipv6_route": "1",
	} {
		if got := output(t, client, command); got != want {
			t.Errorf("%s = %q; want %q", command, got, want)
		}
	}
	f.addr = netip.MustParseAddr("2001:2::2")
	again, err := f.connect("tester", f.key)
	must(t, err)
	again.Close()
}

func testTUN(t *testing.T) {
	if fd, err := unix.Open("/dev/net/tun", unix.O_RDWR, 0); err == nil {
		unix.Close(fd)
	} else {
		if os.Getenv(inside) != "" && ownsHost() {
			t.Fatal(err)
		}
		t.Logf("/dev/net/tun is closed to ordinary users here: %v", err)
		return
	}
	f := start(t, func(b *Boot) {
		b.Link.Kind, b.Link.PeerMAC, b.Link.IPv6 = LinkTUN, "", netip.MustParseAddr("2001:2::2")
	})
	r, tun := f.next()
	if r.Kind != ReportLink || tun == nil {
		t.Fatalf("report = %+v, %v; want link and a descriptor", r, tun)
	}
	defer tun.Close()
	f.expect(ReportHostKey, ReportBooted)
	// Nothing else leaves: the kernel has no routers to solicit.
	for to, from := range map[string]string{"198.18.7.7": "198.18.0.2", "10.9.9.9": "10.1.0.2", "2001:2::7": "2001:2::2"} {
		f.inNetwork(func() error {
			conn, err := net.Dial("udp", net.JoinHostPort(to, "9"))
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = conn.Write([]byte("hello"))
			return err
		})
		packet := make([]byte, 65536+10)
		tun.SetReadDeadline(time.Now().Add(limit))
		n, err := tun.Read(packet)
		must(t, err)
		ip := packet[10:n] // after the virtio-net header
		src, _ := netip.AddrFromSlice(ip[12:16])
		dst, _ := netip.AddrFromSlice(ip[16:20])
		if ip[0]>>4 == 6 {
			src, _ = netip.AddrFromSlice(ip[8:24])
			dst, _ = netip.AddrFromSlice(ip[24:40])
		}
		if src.String() != from || dst.String() != to {
			t.Errorf("packet from %s to %s; want from %s to %s", src, dst, from, to)
		}
	}
}

// ownsHost says whether root here is root of the host.
func ownsHost() bool {
	m, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(m)), " ") == "0 0 4294967295"
}

// inNetwork calls do on a thread of the machine's network namespace. The thread
// comes back afterwards: were it to end, so would every machine it has forked,
// for PDEATHSIG is about the thread.
func (f *fixture) inNetwork(do func() error) {
	f.t.Helper()
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			result <- err
			return
		}
		defer home.Close()
		err = enter("/proc/" + strconv.Itoa(f.cmd.Process.Pid) + "/ns/net")
		if err == nil {
			err = do()
		}
		if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back == nil {
			runtime.UnlockOSThread()
		} else {
			err = errors.Join(err, back)
		}
		result <- err
	}()
	must(f.t, <-result)
}

// enter moves the calling thread to a network namespace.
func enter(path string) error {
	ns, err := os.Open(path)
	if err != nil {
		return err
	}
	defer ns.Close()
	return unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
}
