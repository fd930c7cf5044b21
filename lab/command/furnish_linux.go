package command

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// stage is a folder that every system has. It is covered while no command runs.
const stage = "/tmp"

// replaced are files of the host that the command finds changed: nothing of it is
// written anywhere.
var replaced = []struct {
	path string
	text func(s Spec, before string) string
}{
	{"/etc/hosts", func(s Spec, before string) string { return before + "\n# antipode lab\n" + s.Hosts }},
	// An empty one would mean waiting for a name server that nobody runs.
	{"/etc/resolv.conf", func(Spec, string) string { return "# there is no DNS in the lab: /etc/hosts has its names\n" }},
}

// furnish makes the namespaces that we are the first in a place to be in: processes
// and names of its own, on the host's files.
func (s *Spec) furnish() error {
	if err := unix.Sethostname([]byte(s.HostName)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	// What the host mounts from now on is seen, and nothing of ours is seen there.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("mounts: cut off from the host's: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		if s.UserID != 0 { // whose making takes a /proc that knows us
			log.Printf("the command sees itself as root, and all processes: this computer masks parts of /proc: %v", err)
		}
		s.UserID, s.GroupID = 0, 0
	}
	if err := unix.Mount("tmpfs", stage, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755,size=4m"); err != nil {
		return fmt.Errorf("mounts: a place for files: %w", err)
	}
	for _, r := range replaced {
		if err := replace(r.path, func(before string) string { return r.text(*s, before) }); err != nil {
			return err
		}
	}
	// Detached: what was bound stays.
	return os.NewSyscallError("unmount "+stage, unix.Unmount(stage, unix.MNT_DETACH))
}

// replace covers a file with another one. A file that the host has not is left out.
func replace(path string, text func(before string) string) error {
	before, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	made := filepath.Join(stage, filepath.Base(path))
	if err := os.WriteFile(made, []byte(text(string(before))), 0o644); err != nil {
		return err
	}
	if err := unix.Mount(made, path, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("mounts: %s: %w", path, err)
	}
	return nil
}
