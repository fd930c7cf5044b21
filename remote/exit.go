package remote

import (
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// exitGrace is what an agent has between the end of its output and its own end.
	exitGrace = 2 * time.Second
	// lossGrace is how long a lost connection may take to be known as such
	// after its sessions have broken off.
	lossGrace = 500 * time.Millisecond
)

// errExited is an agent's end with status 0.
var errExited = errors.New("exited")

// whyEnded is the best reason for the end of the agent's output: err, or, if
// that is no more than io.EOF, what became of the program. With it comes the end
// of its standard error.
func (a *Agent) whyEnded(err error) error {
	if err != io.EOF && a.conn.Err() == nil {
		a.kill()
		return a.withStderr(err)
	}
	return a.withStderr(a.exit())
}

// exit waits for the program's end and tells it.
func (a *Agent) exit() error {
	ended := make(chan error, 1)
	a.conn.spawn(func() { ended <- a.session.Wait() })
	select {
	case err := <-ended:
		return a.describe(err)
	case <-a.conn.done:
		return a.conn.err
	case <-time.After(exitGrace):
		a.kill()
		return errors.New("closed its output and went on running")
	}
}

// describe says in words what Wait returned.
func (a *Agent) describe(ended error) error {
	exit := (*ssh.ExitError)(nil)
	switch {
	case ended == nil:
		return errExited
	case errors.As(ended, &exit) && exit.Signal() != "":
		return fmt.Errorf("killed by SIG%s", exit.Signal())
	case errors.As(ended, &exit):
		return fmt.Errorf("exited with status %d", exit.ExitStatus())
	}
	select { // no status: most likely the connection went
	case <-a.conn.done:
		return a.conn.err
	case <-time.After(lossGrace):
		return ended
	}
}

func (a *Agent) withStderr(err error) error {
	if said := a.stderr.String(); said != "" {
		return fmt.Errorf("%w; it said: %s", err, said)
	}
	return err
}

// garbage is a line that is no message; the error shows how it begins.
func garbage(line []byte, err error) error {
	const shown = 80
	return fmt.Errorf("sent garbage: %.*q: %w", shown, line, err)
}
