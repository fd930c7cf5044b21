package lab

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// limits are the settings that forbid namespaces, with the value that does and
// the way out.
var limits = []struct {
	file, forbids, remedy string
}{
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
	{"/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"},
	{"/proc/sys/user/max_net_namespaces", "0", "sysctl -w user.max_net_namespaces=10000"},
	{"/proc/sys/user/max_pid_namespaces", "0", "sysctl -w user.max_pid_namespaces=10000"},
	{"/proc/sys/user/max_mnt_namespaces", "0", "sysctl -w user.max_mnt_namespaces=10000"},
}

// explainClone adds the setting that forbids namespaces and the way out to the
// kernel's short word.
func explainClone(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EUSERS):
		// The kernel says "no space left on device" and means this.
		return fmt.Errorf("%w: a limit on namespaces is reached: %s", err,
			blame("see /proc/sys/user/max_*_namespaces, or end other labs"))
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("%w: the lab may not make namespaces here: %s", err,
			blame("run as root, or allow user namespaces (in a container: seccomp and CAP_SYS_ADMIN)"))
	}
	return err
}

// blame names the settings that forbid namespaces, or else says otherwise.
func blame(otherwise string) string {
	var found []string
	for _, l := range limits {
		value, err := os.ReadFile(l.file)
		if err == nil && strings.TrimSpace(string(value)) == l.forbids {
			name := strings.ReplaceAll(strings.TrimPrefix(l.file, "/proc/sys/"), "/", ".")
			found = append(found, fmt.Sprintf("%s is %s (as root: %s)", name, l.forbids, l.remedy))
		}
	}
	if len(found) == 0 {
		return otherwise
	}
	return strings.Join(found, "; ")
}
