package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab/seqpacket"
	"github.com/antipode-bench/antipode/lab/world"
)

// startTimeout bounds the way from the fork to the open doors.
const startTimeout = 30 * time.Second

// Start starts a lab that lives until Close, or as long as the calling process.
func Start(ctx context.Context, o Options) (*Lab, error) {
	l, err := start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start lab: %w", err)
	}
	return l, nil
}

func start(ctx context.Context, o Options) (*Lab, error) {
	lifeRead, lifeWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer lifeRead.Close()
	proc, conn, err := o.spawn(launch{life: lifeWrite, log: o.Log}, false, lifeRead)
	if err != nil {
		return nil, err
	}
	l, err := greet(ctx, conn, proc)
	if err != nil {
		proc.kill()
		return nil, withCause(err, proc.wait())
	}
	return l, nil
}

// spawn starts the inner with its set-up and the files after fdControl, and
// returns our end of the control socket.
func (o Options) spawn(l launch, named bool, more ...*os.File) (_ *process, _ *seqpacket.Conn, err error) {
	defer func() {
		if err != nil {
			l.life.Close()
		}
	}()
	setupFile, err := o.setupFile(named)
	if err != nil {
		return nil, nil, err
	}
	defer setupFile.Close()
	machineFile, err := memFile("lab-machine", o.Machine)
	if err != nil {
		return nil, nil, err
	}
	defer machineFile.Close()
	conn, theirs, err := seqpacket.Pair()
	if err != nil {
		return nil, nil, err
	}
	defer theirs.Close()
	l.command = o.command()
	l.files = append([]*os.File{setupFile, machineFile, theirs}, more...)
	proc, err := l.start()
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return proc, conn, nil
}

func (o Options) setupFile(named bool) (*os.File, error) {
	w := o.World
	if w == nil {
		w = world.Default(antipode.Regions())
	}
	text, err := w.Marshal()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(setup{
		Named: named, World: text, Faults: o.Faults, Timing: o.Timing, Link: o.Link, Rough: o.Rough, SampleEvery: o.SampleEvery,
	})
	if err != nil {
		return nil, err
	}
	return memFile("lab-setup", data)
}

// greet waits for the inner's hello, with a limit.
func greet(ctx context.Context, conn *seqpacket.Conn, proc *process) (*Lab, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout,
		fmt.Errorf("the lab was not up within %v", startTimeout))
	defer cancel()
	return connect(ctx, conn, proc)
}

// withCause prefers what the inner said to a bare end of file.
func withCause(err, exit error) error {
	if errors.Is(err, io.EOF) {
		return exit
	}
	return err
}
