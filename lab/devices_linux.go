package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// devices are all that the lab needs of /dev. Without a user namespace its root
// is the host's, to whom a read-only mount does not close a disk's device node.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty", "net/tun"}

// wallDevices replaces /dev by one that has the harmless devices only.
func wallDevices() error {
	const stage = "/tmp/dev"
	if err := os.Mkdir(stage, 0o755); err != nil {
		return fmt.Errorf("make a private /dev: %w", err)
	}
	if err := unix.Mount("tmpfs", stage, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=755"); err != nil {
		return fmt.Errorf("make a private /dev: %w", err)
	}
	for _, name := range devices {
		if err := bindDevice(filepath.Join("/dev", name), filepath.Join(stage, name)); err != nil {
			return fmt.Errorf("make a private /dev: %w", err)
		}
	}
	if err := furnishDev(stage); err != nil {
		return fmt.Errorf("make a private /dev: %w", err)
	}
	if err := unix.Mount(stage, "/dev", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("make a private /dev: %w", err)
	}
	return os.Remove(stage)
}

// bindDevice shows a device of the host under a new path. One that the host has
// not is left out.
func bindDevice(from, to string) error {
	if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(to, nil, 0o666); err != nil {
		return err
	}
	return os.NewSyscallError("bind "+from, unix.Mount(from, to, "", unix.MS_BIND, ""))
}

// furnishDev makes what is no device but expected there.
func furnishDev(dir string) error {
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
		"stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, sub := range []string{"shm", "pts"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o1777); err != nil {
			return err
		}
	}
	err := unix.Mount("devpts", filepath.Join(dir, "pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666")
	if err != nil && !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.ENODEV) {
		return fmt.Errorf("mount /dev/pts: %w", err)
	}
	return nil
}
