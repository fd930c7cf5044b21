package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/antipode-bench/antipode/lab/seqpacket"
	"golang.org/x/sys/unix"
)

// downTimeout bounds how long the kernel may take to end a killed lab.
const downTimeout = 10 * time.Second

// Up starts a lab that goes on when the calling process ends, until Down.
func Up(ctx context.Context, name string, o Options) error {
	if err := up(ctx, name, o); err != nil {
		return fmt.Errorf("lab %s: up: %w", name, err)
	}
	return nil
}

func up(ctx context.Context, name string, o Options) (err error) {
	s, err := createState(name)
	if err != nil {
		return err
	}
	defer s.lock.Close() // the inner has it by then, or nobody
	defer func() {
		if err != nil {
			s.remove()
		}
	}()
	log, err := os.OpenFile(s.path("log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	listener, err := s.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	proc, conn, err := o.spawn(launch{log: log}, true, listener, s.lock)
	if err != nil {
		return err
	}
	if err := s.settle(ctx, proc, conn); err != nil {
		proc.kill()
		return withCause(err, proc.wait())
	}
	return nil
}

// settle waits until the lab is up and then lets go of it.
func (s *state) settle(ctx context.Context, proc *process, conn *seqpacket.Conn) error {
	pid := strconv.Itoa(proc.cmd.Process.Pid)
	if err := os.WriteFile(s.path("pid"), []byte(pid+"\n"), 0o600); err != nil {
		conn.Close()
		return err
	}
	l, err := greet(ctx, conn, nil)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("it died: %s", s.lastWords())
	}
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.control.call(ctx, request{Op: opDetach})
	return err
}

// Enter connects to a lab that is up.
func Enter(ctx context.Context, name string) (*Lab, error) {
	l, err := enter(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("lab %s: enter: %w", name, err)
	}
	return l, nil
}

func enter(ctx context.Context, name string) (*Lab, error) {
	s, err := findState(name)
	if err != nil {
		return nil, err
	}
	if s.stale() {
		err := ErrNoLab
		if said := s.lastWords(); said != "" {
			err = fmt.Errorf("%w: it died: %s", ErrNoLab, said)
		}
		return nil, errors.Join(err, s.clean())
	}
	d := net.Dialer{}
	c, err := d.DialContext(ctx, "unixpacket", s.path("control"))
	if err != nil {
		return nil, err
	}
	l, err := greet(ctx, seqpacket.New(c.(*net.UnixConn)), nil)
	if err == nil {
		l.control.(*client).home = s
	}
	return l, err
}

// Down ends a lab, however little it responds, and returns when all of it is
// gone: killing the first process of a pid namespace kills the others.
func Down(ctx context.Context, name string) error {
	if err := down(ctx, name); err != nil {
		return fmt.Errorf("lab %s: down: %w", name, err)
	}
	return nil
}

func down(ctx context.Context, name string) error {
	s, err := findState(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, downTimeout, fmt.Errorf("not gone within %v", downTimeout))
	defer cancel()
	for !s.stale() || s.inUse() {
		if !s.stale() {
			s.kill()
		} // else the commands in there (Exec) are about to end
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return s.clean()
}

// kill ends the process in the pid file. While the lock is held that process is
// the lab's inner, not a later one of the same number: the handle on it is taken
// first and the lock looked at afterwards.
func (s *state) kill() {
	pid, err := s.pid()
	if err != nil {
		return // being started: it is there soon, or the lock is free
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if !s.stale() {
		_ = unix.PidfdSendSignal(fd, syscall.SIGKILL, nil, 0)
	}
}

// Names returns the labs that are up, sorted.
func Names() ([]string, error) {
	root, err := stateRoot()
	if err != nil {
		return nil, fmt.Errorf("labs: %w", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("labs: %w", err)
	}
	var names []string
	for _, e := range entries {
		s := &state{dir: filepath.Join(root, e.Name())}
		if CheckName(e.Name()) == nil && !s.stale() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
