package hypervisor

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawner forks all machines from one thread. The kernel sends a machine its
// PDEATHSIG when the thread that forked it ends, so the thread must not end
// before the hypervisor; and what the thread may not do, no machine may.
type spawner struct {
	jobs chan func()
}

func newSpawner() (*spawner, error) {
	s := &spawner{jobs: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		ready <- dropCapabilities()
		for job := range s.jobs {
			job()
		}
	}()
	return s, <-ready
}

// close ends the thread, and with it every machine that still runs.
func (s *spawner) close() { close(s.jobs) }

// start starts cmd as the first process of new namespaces.
func (s *spawner) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
		Setsid:     true,
		Pdeathsig:  syscall.SIGKILL,
	}
	done := make(chan error, 1)
	s.jobs <- func() { done <- cmd.Start() }
	return <-done
}

// denied are the capabilities that reach beyond namespaces. Without a user
// namespace, root of a machine is root of the host but for them.
var denied = []uintptr{
	unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_SYS_BOOT, unix.CAP_SYS_TIME, unix.CAP_MKNOD,
	unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE, unix.CAP_SYSLOG, unix.CAP_WAKE_ALARM,
	unix.CAP_BLOCK_SUSPEND, unix.CAP_AUDIT_CONTROL, unix.CAP_AUDIT_READ,
}

// dropCapabilities takes them from whatever this thread will execute.
func dropCapabilities() error {
	for _, c := range denied {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && err != unix.EINVAL {
			return fmt.Errorf("drop capability %d: %w", c, err) // EINVAL: an older kernel without it
		}
	}
	return nil
}

// writeProgram puts the machine binary where it can be executed, in the inner's
// own temporary folder: never on the host's disk.
func writeProgram(path string, binary []byte) error {
	if err := os.WriteFile(path, binary, 0o755); err != nil {
		return fmt.Errorf("machine binary: %w", err)
	}
	return nil
}
