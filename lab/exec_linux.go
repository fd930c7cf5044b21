package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/antipode-bench/antipode/lab/command"
	"github.com/antipode-bench/antipode/lab/seqpacket"
)

// Exec runs a command of the caller's own in a region of the lab: with the caller's standard files, terminal,
// folder, files and environment, but in the region's network namespace, where the regions' names
// are those of Regions. Signals that this process gets go to the command. It
// returns the command's exit code, when the command and all that it started are gone; an error
// if it did not come to run. asRoot lets an ordinary user's command see itself as root of the lab.
func (l *Lab) Exec(ctx context.Context, region string, args []string, asRoot bool) (code int, err error) {
	c, ok := l.control.(*client)
	if !ok {
		return 0, ErrUnsupported
	}
	all, err := l.Regions(ctx)
	if err != nil {
		return 0, err
	}
	files, err := c.askFiles(ctx, request{Op: opEnter, Region: region})
	if err != nil {
		return 0, fmt.Errorf("lab: enter a region: %w", err)
	}
	defer seqpacket.CloseAll(files)
	if len(files) != 3 {
		return 0, errors.New("lab: enter a region: the lab sent no way in")
	}
	var held *os.File
	if c.home != nil {
		if held, err = c.home.hold(); err != nil {
			return 0, fmt.Errorf("lab: enter a region: %w", err)
		}
	}
	hear := make(chan os.Signal, 16)
	notify(hear)
	defer signal.Stop(hear)
	at := foreground()
	defer at.restore()
	p, err := command.Start(command.Launch{
		Spec:  command.Spec{Args: args, HostName: hostName(region), Hosts: hostsFile(all)},
		NetNS: files[0], Program: files[1], Leash: files[2], Held: held, AsRoot: asRoot,
	})
	held.Close() // nil can be closed; the command has it
	if err != nil {
		return 0, fmt.Errorf("lab: %s: %w", region, err)
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-hear:
				if !at.heard(s) {
					p.Signal(s.(syscall.Signal))
				}
			case <-ended:
				return
			}
		}
	}()
	return p.Wait()
}

// notify asks for the signals that a command may be sent through us. One that the
// caller has us ignore (nohup) stays ignored.
func notify(hear chan<- os.Signal) {
	for _, s := range []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2} {
		if !signal.Ignored(s) {
			signal.Notify(hear, s)
		}
	}
}

// hostsFile names every region.
func hostsFile(all []Place) string {
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%s %s.lab %s\n", p.Address, p.Name, p.Name)
	}
	return b.String()
}

// terminal is the one that controls us, while we are in its foreground; else nil.
type terminal struct{ f *os.File }

// foreground returns the terminal that sends its signals to us, and to the command
// likewise, which is of the same process group.
func foreground() *terminal {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	t := &terminal{f}
	if t.group() != unix.Getpgrp() {
		f.Close()
		return nil
	}
	return t
}

func (t *terminal) group() int {
	group, err := unix.IoctlGetInt(int(t.f.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// heard says whether the command has had the signal already: Ctrl-C and Ctrl-\ go
// to all of the foreground.
func (t *terminal) heard(s os.Signal) bool {
	return t != nil && (s == unix.SIGINT || s == unix.SIGQUIT) && t.group() == unix.Getpgrp()
}

// restore takes the terminal back from a shell that ended with it in its hands.
func (t *terminal) restore() {
	if t == nil {
		return
	}
	defer t.f.Close()
	if t.group() != unix.Getpgrp() {
		signal.Ignore(unix.SIGTTOU) // who is in the background is stopped otherwise
		_ = unix.IoctlSetPointerInt(int(t.f.Fd()), unix.TIOCSPGRP, unix.Getpgrp())
	}
}
