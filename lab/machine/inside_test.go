//go:build linux

package machine

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside in the environment says that the process has namespaces of its own,
// as the lab's hypervisor has, so that nothing of the host is touched.
const inside = "ANTIPODE_TEST_INSIDE"

const wallFlags = unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// nobody is a user without any rights on the host.
const nobody = 65534

func TestAsRoot(t *testing.T) {
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("not root")
		}
		t.Skip("not root")
	}
	runInside(t, &syscall.SysProcAttr{Cloneflags: wallFlags})
}

func TestRootless(t *testing.T) {
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = nobody, nobody
	}
	runInside(t, &syscall.SysProcAttr{
		Cloneflags:  wallFlags | unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}},
		Credential:  &syscall.Credential{NoSetGroups: true}, // root of the new namespace
	})
}

// runInside runs TestInside of this binary again behind walls.
func runInside(t *testing.T, attr *syscall.SysProcAttr) {
	args := []string{"-test.run=^TestInside$", "-test.v", "-test.timeout=10m"}
	cmd := reexec(t, attr, args...)
	cmd.Env = append(os.Environ(), inside+"=1")
	attr.Pdeathsig = syscall.SIGKILL
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// reexec starts this binary through a descriptor: its folder may be closed to
// the user that the process becomes.
func reexec(t *testing.T, attr *syscall.SysProcAttr, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { self.Close() })
	cmd := exec.Command("/proc/self/fd/4", args...)
	cmd.Dir = "/"
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	cmd.ExtraFiles = []*os.File{null, self} // descriptors 3 and 4
	cmd.SysProcAttr = attr
	return cmd
}

// TestInside is empty unless TestAsRoot or TestRootless runs it again.
func TestInside(t *testing.T) {
	if os.Getenv(inside) == "" {
		return
	}
	if err := setUpWalls(); err != nil {
		t.Fatal(err)
	}
	t.Run("Boot", testBoot)
	t.Run("OwnFiles", testOwnFiles)
	t.Run("Exec", testExec)
	t.Run("NoStrays", testNoStrays)
	t.Run("Orphans", testOrphans)
	t.Run("ManyClients", testManyClients)
	t.Run("WrongClients", testWrongClients)
	t.Run("BootCommands", testBootCommands)
	t.Run("Power", testPower)
	t.Run("Faults", testFaults)
	t.Run("HangUp", testHangUp)
	t.Run("IPv6", testIPv6)
	t.Run("TUN", testTUN)
}

func setUpWalls() error {
	return errors.Join(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("proc", "/proc", "proc", 0, ""),
	)
}
