package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"

	"github.com/antipode-bench/antipode/lab/seqpacket"
	"golang.org/x/sys/unix"
)

// InnerMain is the inner process: the body of the hidden sub-command. It runs
// only as the first process of namespaces made for it, and returns its exit
// code when the lab is over.
func InnerMain([]string) int {
	if err := inner(); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 1
	}
	return 0
}

func inner() error {
	if os.Getpid() != 1 {
		return fmt.Errorf("%s is not for people: use lab up, or sweep --lab", InnerCommand)
	}
	in, err := inherit()
	if err != nil {
		return err
	}
	if !in.setup.Named {
		go in.watchLife()
	}
	conn, err := seqpacket.FromFile(in.control)
	if err != nil {
		return err
	}
	if err := in.live(conn); err != nil {
		// The starter waits for it; if it does not any more, stderr has it as well.
		_ = conn.Send(response{Error: packError(err)})
		return err
	}
	return nil
}

// live makes the walls and the planet and serves until the lab is over.
func (in *inherited) live(conn *seqpacket.Conn) error {
	if err := buildWalls(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	p, err := newPlanet(context.Background(), in.setup, in.machine, log)
	if err != nil {
		return err
	}
	in.machine = nil // megabytes that are in a file by now
	s := &server{planet: p}
	if !in.setup.Named {
		return s.serve(conn)
	}
	if err := s.serveStarter(conn); err != nil {
		return err
	}
	return s.accept(in.listener)
}

// inherited is what the starter handed over.
type inherited struct {
	setup    setup
	machine  []byte
	control  *os.File
	life     *os.File // not named
	listener *net.UnixListener
}

// inherit takes the descriptors over, and closes what leaked in from whoever
// started the starter: a lab that stays must not hold a shell's pipes and locks.
func inherit() (*inherited, error) {
	data, err := readInherited(fdSetup)
	if err != nil {
		return nil, err
	}
	in := &inherited{control: os.NewFile(fdControl, "control")}
	if err := json.Unmarshal(data, &in.setup); err != nil {
		return nil, fmt.Errorf("read set-up: %w", err)
	}
	last := fdLife
	if in.setup.Named {
		last = fdLock
	}
	if err := closeStrangers(last); err != nil {
		return nil, err
	}
	if in.machine, err = readInherited(fdMachine); err != nil {
		return nil, err
	}
	if !in.setup.Named {
		in.life = os.NewFile(fdLife, "life")
		return in, nil
	}
	// fdLock stays a bare descriptor, open until the process ends: an os.File
	// would be closed, and the lab be taken for dead, once the garbage collector
	// saw that nobody uses it.
	f := os.NewFile(fdLife, "listener")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	in.listener = l.(*net.UnixListener)
	return in, nil
}

func readInherited(fd uintptr) ([]byte, error) {
	f := os.NewFile(fd, "inherited")
	defer f.Close()
	data, err := readWhole(f)
	if err != nil {
		return nil, fmt.Errorf("read set-up: %w", err)
	}
	return data, nil
}

// closeStrangers closes every descriptor after last that survived our exec, and marks ours to survive no further one. The runtime's own have that
// mark from the start.
func closeStrangers(last int) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < fdSetup {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		switch {
		case err != nil || flags&unix.FD_CLOEXEC != 0:
		case fd <= last:
			unix.CloseOnExec(fd)
		default:
			unix.Close(fd)
		}
	}
	return nil
}

// watchLife ends the lab when the starter's end of the pipe closes, which
// happens with it however it dies. PDEATHSIG does the same sooner, and also
// when we are stopped; but it is lost if the starter dies before it is set.
func (in *inherited) watchLife() {
	// Nobody writes: it returns when the pipe closes.
	_, _ = in.life.Read(make([]byte, 1))
	os.Exit(0)
}
