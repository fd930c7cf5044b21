package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main is the first process of a command's pid namespace. It returns the exit
// code of the command, when that has ended: with it, the kernel ends all that
// the command has left running.
func Main(args []string) int {
	log.SetFlags(0)
	log.SetPrefix("antipode: lab exec: ")
	code, err := run(args)
	if err != nil {
		log.Print(err)
	}
	return code
}

func run(args []string) (code int, err error) {
	files, err := inherit(args)
	if err != nil {
		return ExitFailed, err
	}
	if os.Getpid() != 1 || len(files) < 3 {
		return ExitFailed, errors.New("not the first process of a pid namespace: antipode lab exec starts this program, nobody else")
	}
	var spec Spec
	if err := json.NewDecoder(files[0]).Decode(&spec); err != nil {
		return ExitFailed, fmt.Errorf("read what to do: %w", err)
	}
	files[0].Close()
	hear()
	if err := spec.furnish(); err != nil {
		return ExitFailed, err
	}
	pid, code, err := spec.start()
	if err != nil {
		return code, err
	}
	go forward(files[1], pid)
	var over atomic.Bool
	go endWith(files[2], &over)
	return await(pid, &over), nil
}

// inherit takes over descriptors: Launch's Spec, the caller's signals, Leash and, if
// there is one, Held.
func inherit(args []string) (files []*os.File, err error) {
	for i, arg := range args {
		fd, err := strconv.Atoi(arg)
		if err != nil {
			return nil, fmt.Errorf("descriptor %q: %w", arg, err)
		}
		unix.CloseOnExec(fd)
		if i < 3 { // Held stays a bare descriptor: a file would be closed once nobody uses it
			files = append(files, os.NewFile(uintptr(fd), "inherited"))
		}
	}
	return files, nil
}

// hear takes the signals of the terminal, which reach the command without us:
// they must not end us before it. What is ignored stays so, for the command too.
func hear() {
	for _, s := range []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2} {
		if !signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// start starts the command, as the user who called: in the lab of an ordinary user
// we are root of a user namespace, and some programs refuse to be that.
func (s Spec) start() (pid, code int, err error) {
	path, err := exec.LookPath(s.Args[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return 0, exitOf(err), err
	}
	cmd := &exec.Cmd{Path: path, Args: s.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if s.UserID != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: s.UserID, HostID: 0, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: s.GroupID, HostID: 0, Size: 1}},
		}
	}
	if err := cmd.Start(); err != nil {
		return 0, exitOf(err), err
	}
	return cmd.Process.Pid, 0, nil
}

func exitOf(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return ExitNotFound
	}
	return ExitNoPower
}

// forward passes on the signals that the caller got. When the caller is gone,
// however it went, all ends.
func forward(signals *os.File, pid int) {
	for b := make([]byte, 1); ; {
		if n, err := signals.Read(b); n == 0 || err != nil {
			os.Exit(ExitFailed)
		}
		_ = unix.Kill(pid, syscall.Signal(b[0]))
	}
}

// endWith ends all when the lab has ended: we go last, since Held closes with us.
func endWith(leash *os.File, over *atomic.Bool) {
	_, _ = leash.Read(make([]byte, 1)) // nobody writes
	log.Print("the lab is gone")
	over.Store(true)
	_ = unix.Kill(-1, unix.SIGKILL)
}

// await reaps, as a first process must, until the command itself has ended; when
// all is over, until everything has.
func await(pid int, over *atomic.Bool) int {
	for {
		var status syscall.WaitStatus
		switch ended, err := syscall.Wait4(-1, &status, 0, nil); {
		case err != nil && err != syscall.EINTR:
			return ExitFailed
		case ended != pid || over.Load():
		case status.Signaled():
			return exitBySignals + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}
