package command

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// entry is all that the forked child needs, made before the fork: between that and
// exec it may neither allocate nor call anything that could.
type entry struct {
	userNS, netNS int // -1: stays where it is
	program       int // descriptor of the binary to execute
	kept          []uintptr
	status        int // writing end of the pipe for notices
	argv, envv    **byte
	mask          unix.Sigset_t // the caller's, for the program

	note notice
}

// notice is what the child says on the status pipe.
type notice struct {
	step  int64 // stepForked: value is the process number of the program; otherwise what failed
	value int64 // an errno where something failed
}

const noticeBytes = unsafe.Sizeof(notice{})

const (
	stepForked = iota
	stepUser
	stepNet
	stepUnshare
	stepFork
	stepExec
)

var steps = [...]string{
	stepUser: "enter the lab's user namespace", stepNet: "enter the region's network namespace",
	stepUnshare: "make namespaces for the command", stepFork: "fork", stepExec: "execute the lab's machine binary",
}

func (n notice) err() error {
	return fmt.Errorf("%s: %w", steps[n.step], syscall.Errno(n.value))
}

// none is a string that is empty, for AT_EMPTY_PATH.
var none [1]byte

// fullMask blocks every signal.
var fullMask = func() (s unix.Sigset_t) {
	for i := range s.Val {
		s.Val[i] = ^s.Val[i]
	}
	return s
}()

// maskBytes is what the kernel calls a signal mask.
const maskBytes = 8

// fork makes a process with one thread, which alone may enter a user namespace, and which the os package
// can't make: it enters e's namespaces, forks the program into a pid namespace as the caller's own
// child, says so and ends. The caller's signals must be blocked: their handlers must not run in the child.
//
//go:norace
//go:nosplit
func fork(e *entry) (pid uintptr, errno syscall.Errno) {
	const own = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS
	pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	if e.userNS >= 0 {
		if _, _, errno = syscall.RawSyscall(unix.SYS_SETNS, uintptr(e.userNS), unix.CLONE_NEWUSER, 0); errno != 0 {
			e.note.step = stepUser
			goto failed
		}
	}
	if e.netNS >= 0 {
		if _, _, errno = syscall.RawSyscall(unix.SYS_SETNS, uintptr(e.netNS), unix.CLONE_NEWNET, 0); errno != 0 {
			e.note.step = stepNet
			goto failed
		}
	}
	if _, _, errno = syscall.RawSyscall(unix.SYS_UNSHARE, own, 0, 0); errno != 0 {
		e.note.step = stepUnshare
		goto failed
	}
	pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		e.note.step = stepFork
		goto failed
	}
	if pid != 0 {
		e.note.value = int64(pid)
		goto end
	}
	// It is the caller's thread that must not end before it.
	syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	for i := 0; i < len(e.kept); i++ {
		syscall.RawSyscall(unix.SYS_FCNTL, e.kept[i], unix.F_SETFD, 0)
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&e.mask)), 0, maskBytes, 0, 0)
	_, _, errno = syscall.RawSyscall6(unix.SYS_EXECVEAT, uintptr(e.program), uintptr(unsafe.Pointer(&none)),
		uintptr(unsafe.Pointer(e.argv)), uintptr(unsafe.Pointer(e.envv)), unix.AT_EMPTY_PATH, 0)
	e.note.step = stepExec
failed:
	e.note.value = int64(errno)
end:
	syscall.RawSyscall(unix.SYS_WRITE, uintptr(e.status), uintptr(unsafe.Pointer(&e.note)), noticeBytes)
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

// spawn forks, and returns the program's process number once it is executed. The
// calling thread must outlive the program.
func (e *entry) spawn() (pid int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	e.status = int(w.Fd())
	syscall.ForkLock.Lock() // nobody else's descriptor on its way to close-on-exec is inherited
	err = unix.PthreadSigmask(unix.SIG_SETMASK, &fullMask, &e.mask)
	var child uintptr
	var errno syscall.Errno
	if err == nil {
		child, errno = fork(e)
		_ = unix.PthreadSigmask(unix.SIG_SETMASK, &e.mask, nil)
	}
	syscall.ForkLock.Unlock()
	w.Close()
	if err != nil {
		return 0, err
	}
	if errno != 0 {
		return 0, fmt.Errorf("fork: %w", errno)
	}
	notices := readNotices(r)
	reap(int(child))
	for _, n := range notices {
		if n.step != stepForked {
			err = n.err()
			continue
		}
		pid = int(n.value)
	}
	switch {
	case err != nil && pid > 0:
		reap(pid)
	case err == nil && pid == 0:
		err = fmt.Errorf("the forked process died")
	}
	return pid, err
}

// readNotices returns when the program is executed, which closes the pipe, or
// nobody is left to do so.
func readNotices(r *os.File) (all []notice) {
	var n notice
	b := unsafe.Slice((*byte)(unsafe.Pointer(&n)), noticeBytes)
	for { // at most two: a short write fits into the pipe as a whole
		if got, err := r.Read(b); err != nil || got < len(b) {
			return all
		}
		all = append(all, n)
	}
}

// reap waits for a child that is about to end.
func reap(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}
