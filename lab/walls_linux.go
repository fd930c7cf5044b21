package lab

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// buildWalls makes this process's namespaces a place of their own, in which
// nothing of the host can be changed and whose end leaves no trace.
func buildWalls() error {
	if err := wallMounts(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte("antipode-lab")); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	return wallNetwork()
}

// wallMounts makes all of the host's file systems read-only to us, cuts the
// propagation of mounts in both directions, and hides what programs meet in:
// sockets under /run would lead out of the network namespace.
func wallMounts() error {
	err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE,
		&unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY, Propagation: unix.MS_PRIVATE})
	switch {
	case errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("make the host's file systems read-only: %w: needs Linux 5.12 or later", err)
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return fmt.Errorf("make the host's file systems read-only: %w", explainClone(err))
	case err != nil:
		return fmt.Errorf("make the host's file systems read-only: %w", err)
	}
	for _, dir := range []string{"/tmp", "/run"} {
		if err := mountTmpfs(dir); err != nil {
			return err
		}
	}
	if err := wallDevices(); err != nil {
		return err
	}
	return mountKernelViews()
}

func mountTmpfs(dir string) error {
	err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
	if err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("mount a private %s: %w", dir, err)
	}
	return nil
}

// mountKernelViews shows our own processes and devices under /proc and /sys.
// Where a container masks parts of them the kernel refuses; the old ones do,
// but /proc must be writable for this namespace's network settings.
func mountKernelViews() error {
	const quiet = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "/proc", "proc", quiet, ""); err != nil {
		err = unix.MountSetattr(unix.AT_FDCWD, "/proc", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		if err != nil {
			return fmt.Errorf("make /proc writable: %w", err)
		}
	}
	// Without a view of its own, /sys keeps showing the host's devices, read-only.
	_ = unix.Mount("sysfs", "/sys", "sysfs", quiet|unix.MS_RDONLY, "")
	return nil
}

// wallNetwork brings loopback up and keeps the namespace from outliving us.
func wallNetwork() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	setSysctls()
	return nil
}
