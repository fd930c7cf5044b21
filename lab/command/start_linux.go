package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Launch is where and how to run a command. The files stay the caller's.
type Launch struct {
	Spec    Spec
	NetNS   *os.File // the network namespace; nil: the caller's own
	Program *os.File // cmd/antipode-machine
	Leash   *os.File // reading end of a pipe: when its other end closes, the command is killed
	Held    *os.File // held open until the last of the command's processes has ended; nil: nothing is
	AsRoot  bool     // in a lab of an ordinary user: as the root of it, not as oneself
}

// Process is a command that runs.
type Process struct {
	process *os.Process
	signals *os.File // one byte each; when it closes, which it does with us, the command is killed
	once    sync.Once
}

// Start starts a command with the caller's standard files, folder and environment.
func Start(l Launch) (*Process, error) {
	e := &entry{userNS: -1, netNS: -1, program: int(l.Program.Fd())}
	if l.NetNS != nil {
		owner, err := ownerOf(l.NetNS)
		if err != nil {
			return nil, err
		}
		e.netNS = int(l.NetNS.Fd())
		if owner != nil {
			defer owner.Close()
			e.userNS = int(owner.Fd())
		}
	}
	if e.userNS >= 0 && !l.AsRoot {
		l.Spec.UserID, l.Spec.GroupID = os.Geteuid(), os.Getegid()
	}
	spec, err := l.Spec.file()
	if err != nil {
		return nil, err
	}
	defer spec.Close()
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p := &Process{signals: ours}
	kept := []*os.File{spec, theirs, l.Leash}
	if l.Held != nil {
		kept = append(kept, l.Held)
	}
	if err := p.start(e, kept); err != nil {
		ours.Close()
		return nil, err
	}
	return p, nil
}

// start spawns the first process from a thread that ends with it.
func (p *Process) start(e *entry, kept []*os.File) error {
	argv := []string{ProgramName}
	for _, f := range kept {
		e.kept = append(e.kept, f.Fd())
		argv = append(argv, strconv.Itoa(int(f.Fd())))
	}
	argp, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return err
	}
	envp, err := syscall.SlicePtrFromStrings(os.Environ())
	if err != nil {
		return err
	}
	e.argv, e.envv = &argp[0], &envp[0]
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the kernel kills the process when this thread ends
		pid, err := e.spawn()
		if err == nil {
			p.process, err = os.FindProcess(pid)
		}
		started <- err
		if err == nil {
			for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
			}
		}
	}()
	err = <-started
	runtime.KeepAlive(kept)
	return err
}

// Signal has the command itself get a signal.
func (p *Process) Signal(s syscall.Signal) { _, _ = p.signals.Write([]byte{byte(s)}) }

// Wait returns the command's exit code once it and all that it started are gone.
func (p *Process) Wait() (code int, err error) {
	state, err := p.process.Wait()
	p.once.Do(func() { p.signals.Close() })
	if err != nil {
		return 0, err
	}
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		return exitBySignals + int(status.Signal()), nil
	}
	return state.ExitCode(), nil
}

// ownerOf returns the user namespace that a network namespace belongs to; nil if
// it is the caller's own.
func ownerOf(netNS *os.File) (*os.File, error) {
	fd, err := unix.IoctlRetInt(int(netNS.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return nil, fmt.Errorf("find the lab's user namespace: %w", err)
	}
	owner := os.NewFile(uintptr(fd), "user namespace")
	own, err := os.Stat("/proc/self/ns/user")
	if err != nil {
		owner.Close()
		return nil, err
	}
	if theirs, err := owner.Stat(); err != nil || os.SameFile(own, theirs) {
		return nil, errors.Join(err, owner.Close())
	}
	return owner, nil
}

// file has the spec as JSON, in memory.
func (s Spec) file() (*os.File, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("lab-exec", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "lab-exec")
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
