package remote

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// tuneScript changes the machine's settings and waits; its end, which is that of
// our connection at the latest, undoes them.
//
//go:embed tune.sh
var tuneScript string

// TunedBytes are how far buffers may grow on a tuned machine: what ESnet recommends
// for paths of 200 ms (fasterdata.es.net, Linux host tuning).
const TunedBytes = 128 << 20

const tunePrefix = "antipode-tune "

// Setting is one of a machine's that was to be tuned.
type Setting struct {
	Name   string `json:"name"` // as sysctl(8) has it; "module.tcp_bbr" is a kernel module
	Before string `json:"before"`
	After  string `json:"after"`
	Failed string `json:"failed,omitempty"` // why it is not what it was to be
}

// Tuning says what is tuned, and for whom.
type Tuning struct {
	Owner             string // one at a time tunes a machine; the same one again takes over from itself
	CongestionControl string // that ordinary users are to have; empty: those they have
}

// tuned is a machine's tuning while it lasts.
type tuned struct {
	session *ssh.Session
	stdin   io.WriteCloser
	stderr  *tail
	ended   chan struct{} // closed when the script has ended
	err     error         // set before
}

// Tune raises the machine's limits of buffers and windows, which needs its root
// or sudo without a password, and says what came of each setting. They are put
// back by Close, or by the machine when it hears nothing for Options.Linger.
func (c *Conn) Tune(ctx context.Context, t Tuning) ([]Setting, error) {
	settings, err := await(ctx, c, func() ([]Setting, error) { return c.tune(ctx, t, "/proc/sys", "/run") })
	if err != nil {
		return nil, fmt.Errorf("tune %s: %w", c.target.Name, err)
	}
	return settings, nil
}

// tune has the folders of the kernel's settings, and of what they were.
func (c *Conn) tune(ctx context.Context, t Tuning, sys, state string) ([]Setting, error) {
	s, err := c.client.NewSession()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	w := &tuned{session: s, stderr: &tail{}, ended: make(chan struct{})}
	s.Stderr = w.stderr
	var err1, err2 error
	w.stdin, err1 = s.StdinPipe()
	stdout, err2 := s.StdoutPipe()
	if err := errors.Join(err1, err2, s.Start(c.tuneCommand(t, sys, state))); err != nil {
		s.Close()
		return nil, err
	}
	lines := bufio.NewReader(stdout)
	settings, err := readSettings(lines)
	if err != nil {
		w.stdin.Close()
		ended := s.Wait()
		s.Close()
		return nil, withWords(errors.Join(err, ended), w.stderr)
	}
	if !c.spawn(func() { w.wait(lines) }) || !c.spawn(func() { w.sayAlive(c.options.AliveInterval) }) {
		return nil, errClosed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tuned = append(c.tuned, w)
	return settings, nil
}

// tuneCommand runs the script as root.
func (c *Conn) tuneCommand(t Tuning, sys, state string) string {
	script := "/bin/sh -c " + quote(tuneScript) + " antipode-tune"
	for _, arg := range []string{sys, state, t.Owner, strconv.Itoa(int(c.options.Linger / time.Second)), t.CongestionControl, strconv.Itoa(TunedBytes)} {
		script += " " + quote(arg)
	}
	return "exec /bin/sh -c " + quote(`[ "$(id -u)" = 0 ] && exec `+script+"\nexec sudo -n "+script)
}

// readSettings reads until the script is ready.
func readSettings(lines *bufio.Reader) (settings []Setting, err error) {
	for {
		line, err := readTold(lines, tunePrefix)
		if err != nil || line == "ready" {
			return settings, err
		}
		parts := strings.Split(line, "|")
		if len(parts) != 4 || len(settings) >= 100 {
			return nil, garbage([]byte(line), errors.New("not NAME|BEFORE|AFTER|FAILURE"))
		}
		settings = append(settings, Setting{parts[0], parts[1], parts[2], parts[3]})
	}
}

// wait ends when the script does, or the connection.
func (w *tuned) wait(stdout io.Reader) {
	io.Copy(io.Discard, stdout)
	w.err = w.session.Wait()
	close(w.ended)
}

// sayAlive keeps the settings from being put back in silence.
func (w *tuned) sayAlive(interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			io.WriteString(w.stdin, "\n")
		case <-w.ended:
			return
		}
	}
}

// putBack undoes what was tuned. A machine that is not reached any more does so by
// itself.
func (c *Conn) putBack(all []*tuned) error {
	var errs []error
	for _, w := range all {
		if err := w.undo(c.options.CloseTimeout); err != nil && c.Err() == nil {
			errs = append(errs, fmt.Errorf("put the settings of %s back: %w", c.target.Name, err))
		}
	}
	return errors.Join(errs...)
}

// undo puts the settings back, within a time limit. The error is about what may not be.
func (w *tuned) undo(limit time.Duration) error {
	w.stdin.Close()
	select {
	case <-w.ended:
	case <-time.After(limit):
		return fmt.Errorf("the settings were not put back within %v", limit)
	}
	if said := w.stderr.String(); said != "" {
		return errors.New(said)
	}
	return w.err
}
