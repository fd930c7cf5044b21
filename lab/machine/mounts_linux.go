package machine

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// tmpfsOptions caps what one machine's folder can hold.
const tmpfsOptions = "mode=%04o,size=256m"

// ownFolders are the machine's own, empty at boot; everything else is the
// host's and is read-only.
var ownFolders = []struct {
	path string
	mode uint32
}{
	{"/tmp", 0o1777},
	{"/var/tmp", 0o1777},
	{"/dev/shm", 0o1777},
	{"/run", 0o755},
	{"/home", 0o755},
	{"/root", 0o700},
}

// setUpMounts gives the mount namespace /proc, /sys and temporary folders of
// its own and closes the rest for writing. Where a mask on the host's /proc or
// /sys forbids new ones the old ones stay, which costs isolation but works.
func setUpMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts: make private: %w", err)
	}
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &readOnly); err != nil {
		log.Printf("mounts: the host's files stay writable: %v", err)
	}
	const guarded = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "/proc", "proc", guarded, ""); err != nil {
		log.Printf("mounts: keeping the old /proc: %v", err)
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", guarded|unix.MS_RDONLY, ""); err != nil {
		log.Printf("mounts: keeping the old /sys: %v", err)
	}
	for _, f := range ownFolders {
		options := fmt.Sprintf(tmpfsOptions, f.mode)
		err := unix.Mount("tmpfs", f.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("mounts: tmpfs on %s: %w", f.path, err)
		}
	}
	return nil
}

// makeHome makes the user's home: the usual folder where there is a /home or
// /root, else one below /tmp.
func makeHome(user string) (string, error) {
	if user == "root" {
		if err := os.MkdirAll("/root", 0o700); err == nil {
			return "/root", nil
		}
	}
	var errs []error
	for _, base := range []string{"/home", "/tmp/home"} {
		home := filepath.Join(base, user)
		err := os.MkdirAll(home, 0o755)
		if err == nil {
			return home, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("home: %w", errors.Join(errs...))
}
