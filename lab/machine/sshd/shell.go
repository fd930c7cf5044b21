//go:build unix

package sshd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hangUpGrace is what a command has between SIGHUP and SIGKILL once its client is gone.
const hangUpGrace = time.Second

// Process is a started command.
type Process struct {
	PID  int
	Wait func() syscall.WaitStatus // to be called once
}

// Starter starts cmd, whose standard files are all *os.File. A process that
// reaps every child by itself (pid 1) needs one of its own.
type Starter func(cmd *exec.Cmd) (Process, error)

// Shell runs commands through /bin/sh -c, each in a session and process group
// of its own.
type Shell struct {
	Dir   string   // working directory
	Env   []string // the whole environment
	Start Starter  // nil: the ordinary way
}

// Run is a Handler. It returns when the command has ended and nobody holds its
// output open any more. The client's end ends the command's process group.
func (sh Shell) Run(ctx context.Context, s *Session) Exit {
	cmd := exec.Command("/bin/sh", "-c", s.Command)
	if s.Command == "" {
		cmd.Args = []string{"-sh"} // a login shell reads its commands from stdin
	}
	cmd.Dir, cmd.Env = sh.Dir, sh.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p, err := openPipes(cmd)
	if err != nil {
		return failed(s, err)
	}
	process, err := sh.start(cmd)
	p.closeChild()
	if err != nil {
		p.closeOurs()
		return failed(s, err)
	}
	stop := context.AfterFunc(ctx, p.closeOurs) // a stray child may hold the other ends for ever
	defer stop()
	defer p.closeOurs()
	output := p.copy(s)
	status := superviseGroup(ctx, process, s.Signals)
	output.Wait()
	return exitOf(status)
}

func (sh Shell) start(cmd *exec.Cmd) (Process, error) {
	if sh.Start != nil {
		return sh.Start(cmd)
	}
	if err := cmd.Start(); err != nil {
		return Process{}, err
	}
	return Process{PID: cmd.Process.Pid, Wait: func() syscall.WaitStatus {
		cmd.Wait()
		return cmd.ProcessState.Sys().(syscall.WaitStatus)
	}}, nil
}

// superviseGroup waits for the leader of a process group, passing on signals
// and, once ctx has ended, hanging up: SIGHUP, then SIGKILL.
func superviseGroup(ctx context.Context, leader Process, signals <-chan string) syscall.WaitStatus {
	ended := make(chan syscall.WaitStatus, 1)
	go func() { ended <- leader.Wait() }()
	done := ctx.Done()
	var kill <-chan time.Time
	for {
		select {
		case status := <-ended:
			return status
		case name := <-signals:
			if sig := unix.SignalNum("SIG" + name); sig != 0 {
				unix.Kill(-leader.PID, sig)
			}
		case <-done:
			unix.Kill(-leader.PID, unix.SIGHUP)
			done, kill = nil, time.After(hangUpGrace)
		case <-kill:
			unix.Kill(-leader.PID, unix.SIGKILL)
		}
	}
}

func exitOf(status syscall.WaitStatus) Exit {
	if status.Signaled() {
		return Exit{Signal: strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG")}
	}
	return Exit{Status: uint32(status.ExitStatus())}
}

// failed reports a command that could not be started, as a shell would.
func failed(s *Session, err error) Exit {
	fmt.Fprintln(s.Stderr, "sshd:", err)
	return Exit{Status: 126}
}

// pipes are the standard files of a command: ours are closed by us, at any
// time and more than once.
type pipes struct {
	child, ours      []*os.File
	in, out, errPipe *os.File
}

func openPipes(cmd *exec.Cmd) (*pipes, error) {
	var p pipes
	var r, w [3]*os.File
	for i := range r {
		var err error
		if r[i], w[i], err = os.Pipe(); err != nil {
			p.closeChild()
			p.closeOurs()
			return nil, err
		}
		child, ours := r[i], w[i]
		if i > 0 {
			child, ours = w[i], r[i]
		}
		p.child, p.ours = append(p.child, child), append(p.ours, ours)
	}
	p.in, p.out, p.errPipe = w[0], r[1], r[2]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r[0], w[1], w[2]
	return &p, nil
}

// copy moves bytes both ways. The group returned ends with the output; the
// input ends with the session's channel.
func (p *pipes) copy(s *Session) *sync.WaitGroup {
	go func() {
		_, err := io.Copy(p.in, s.Stdin)
		p.in.Close()
		if errors.Is(err, syscall.EPIPE) { // the command reads no more: don't stall its client
			io.Copy(io.Discard, s.Stdin)
		}
	}()
	var output sync.WaitGroup
	output.Go(func() { io.Copy(s.Stdout, p.out) })
	output.Go(func() { io.Copy(s.Stderr, p.errPipe) })
	return &output
}

func (p *pipes) closeChild() { closeAll(p.child) }
func (p *pipes) closeOurs()  { closeAll(p.ours) }

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
