package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors the inner inherits.
const (
	fdSetup   = 3 + iota // in-memory file: setup as JSON
	fdMachine            // in-memory file: the machine binary
	fdControl            // SOCK_SEQPACKET socket to who started it
	fdLife               // not named: pipe that closes when the starter dies; named: the listening socket
	fdLock               // named only: the locked file that says the lab is up
)

// process is an inner process that we started.
type process struct {
	cmd    *exec.Cmd
	tail   *tail
	exited chan struct{}
	cause  error // how it ended; set before exited is closed
}

// launch describes how to start an inner.
type launch struct {
	command []string
	files   []*os.File // fdSetup and up
	log     io.Writer  // nil: only the tail is kept
	life    *os.File   // writing end of the lifetime pipe, if it is to die with us; start takes it over
}

// start starts the inner in new namespaces: with a user namespace unless root
// can do without.
func (l launch) start() (*process, error) {
	withUser := os.Geteuid() != 0
	p, err := l.try(withUser)
	if !withUser && errors.Is(err, syscall.EPERM) {
		p, err = l.try(true) // root of a container without CAP_SYS_ADMIN
	}
	if err != nil {
		l.life.Close()
		return nil, explainClone(err)
	}
	return p, nil
}

// try starts the inner from a thread that lives as long as it does: the kernel
// sends PDEATHSIG when the thread that forked ends, not the process.
func (l launch) try(withUser bool) (*process, error) {
	p := &process{cmd: l.exec(withUser), tail: &tail{}, exited: make(chan struct{})}
	p.cmd.Stdout = p.tail
	if l.log != nil {
		p.cmd.Stdout = io.MultiWriter(p.tail, besides{l.log})
	}
	if f, ok := l.log.(*os.File); ok && l.life == nil {
		p.cmd.Stdout = f // it goes on writing when we are gone
	}
	p.cmd.Stderr = p.cmd.Stdout
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.cause = p.describe(p.cmd.Wait())
		l.life.Close() // referenced until here, so that it is not collected and closed
		close(p.exited)
	}()
	return p, <-started
}

func (l launch) exec(withUser bool) *exec.Cmd {
	cmd := exec.Command(l.command[0], l.command[1:]...)
	if l.command[0] == selfExe {
		cmd.Args[0] = "antipode"
	}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // no credentials, no proxies
	cmd.ExtraFiles = l.files
	cmd.WaitDelay = time.Second
	attr := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
		Setsid:     true, // a terminal's Ctrl-C is the controller's to handle
	}
	if l.life != nil {
		attr.Pdeathsig = syscall.SIGKILL
	}
	if withUser {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	cmd.SysProcAttr = attr
	return cmd
}

// selfExe is the running program, even when its file was replaced since.
const selfExe = "/proc/self/exe"

func (o Options) command() []string {
	if len(o.Command) > 0 {
		return o.Command
	}
	return []string{selfExe, InnerCommand}
}

// kill ends the inner and, because it is the first process of its pid
// namespace, all others in there. Safe to call twice.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// wait returns how the inner ended, once it and all processes in there are gone.
func (p *process) wait() error {
	<-p.exited
	return p.cause
}

// describe says how the inner ended and what it said last.
func (p *process) describe(err error) error {
	if err == nil {
		err = errors.New("exit status 0")
	}
	if said := p.tail.String(); said != "" {
		return fmt.Errorf("inner process: %w; it said: %s", err, said)
	}
	return fmt.Errorf("inner process: %w", err)
}

// tail keeps the end of what was written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// tailBytes is how much of an inner's last words an error repeats.
const tailBytes = 1000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}

// besides writes to a log that may fail, as one does whose reader has gone. What
// the inner says must be read all the same, or saying it would end the inner.
type besides struct{ log io.Writer }

func (b besides) Write(p []byte) (int, error) {
	_, _ = b.log.Write(p)
	return len(p), nil
}

// memFile makes a file that exists in memory only.
func memFile(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(data); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}
