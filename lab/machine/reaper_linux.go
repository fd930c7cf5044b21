package machine

import (
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/machine/sshd"
)

// reaper collects every dead child, the orphans of the pid namespace included,
// as its first process must. Nothing else here may wait for a process: what
// wants a child's status starts it with start.
type reaper struct {
	mu      sync.Mutex // held from a fork until the child is known
	waiting map[int]chan syscall.WaitStatus
	started chan struct{} // signalled when there is a child to wait for
}

// newReaper starts the collecting, which goes on until the process ends.
func newReaper() *reaper {
	r := &reaper{waiting: map[int]chan syscall.WaitStatus{}, started: make(chan struct{}, 1)}
	go r.run()
	return r
}

// start is an sshd.Starter.
func (r *reaper) start(cmd *exec.Cmd) (sshd.Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return sshd.Process{}, err
	}
	ended, pid := make(chan syscall.WaitStatus, 1), cmd.Process.Pid
	r.waiting[pid] = ended
	cmd.Process.Release() // and forgets its pid
	select {
	case r.started <- struct{}{}:
	default:
	}
	return sshd.Process{PID: pid, Wait: func() syscall.WaitStatus { return <-ended }}, nil
}

func (r *reaper) run() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch err {
		case nil:
			r.deliver(pid, syscall.WaitStatus(status))
		case unix.ECHILD: // no orphan either: each becomes ours before its parent's end is seen
			<-r.started
		}
	}
}

func (r *reaper) deliver(pid int, status syscall.WaitStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ended, ok := r.waiting[pid]; ok {
		delete(r.waiting, pid)
		ended <- status
	}
}
