package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// state is the folder of a named lab. Its file "lock" is locked as long as the
// lab lives. The lock belongs to the open file that the inner inherits: the kernel
// gives it back however the lab dies, and unlike a process number it is never
// somebody else's.
type state struct {
	dir  string
	lock *os.File // held; nil when only looked at
}

func (s *state) path(file string) string { return filepath.Join(s.dir, file) }

// stateRoot is the folder of all named labs of this user.
func stateRoot() (string, error) {
	uid := os.Geteuid()
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "antipode", "labs"), nil
	}
	run := "/run/user/" + strconv.Itoa(uid)
	if uid == 0 {
		run = "/run"
	}
	if unix.Access(run, unix.W_OK) == nil {
		return filepath.Join(run, "antipode", "labs"), nil
	}
	shared := filepath.Join(os.TempDir(), "antipode-"+strconv.Itoa(uid))
	if err := ownFolder(shared); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err // in a place where everybody may write, it could be anybody's
	}
	return filepath.Join(shared, "labs"), nil
}

// ownFolder refuses a folder that others could have made or can write to.
func ownFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if !info.IsDir() || int(owner) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a folder of ours alone: remove it, or set XDG_RUNTIME_DIR", dir)
	}
	return nil
}

func stateOf(name string) (*state, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	root, err := stateRoot()
	if err != nil {
		return nil, err
	}
	return &state{dir: filepath.Join(root, name)}, nil
}

// findState returns the folder of a lab that is up, or was.
func findState(name string) (*state, error) {
	s, err := stateOf(name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(s.dir); errors.Is(err, os.ErrNotExist) {
		return nil, ErrNoLab
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// createState makes and locks the folder of a new lab, over the remains of a dead one.
func createState(name string) (*state, error) {
	s, err := stateOf(name)
	if err != nil {
		return nil, err
	}
	for range 10 { // again when another's Down removed the folder meanwhile
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return nil, err
		}
		err := s.acquire()
		switch {
		case err == nil:
			s.empty()
			return s, nil
		case errors.Is(err, syscall.EAGAIN):
			return nil, errors.New("it is up already")
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	return nil, errors.New("its folder vanishes again and again")
}

// acquire takes the lock. The error is EAGAIN while the lab lives, and
// os.ErrNotExist when the folder is gone.
func (s *state) acquire() error {
	f, err := os.OpenFile(s.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		f.Close()
		return err
	}
	// The file may have been removed between the two calls.
	ours, err := f.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Stat(s.path("lock")); err == nil && !os.SameFile(ours, there) {
			err = os.ErrNotExist
		}
	}
	if err != nil {
		f.Close()
		return err
	}
	s.lock = f
	return nil
}

// stale reports whether the lab is dead.
func (s *state) stale() bool {
	f, err := os.Open(s.path("lock"))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK} // asked about, not taken
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock)
	return err == nil && lock.Type == unix.F_UNLCK
}

// hold returns a file that says that a command runs in the lab, for as long as
// anybody has it open.
func (s *state) hold() (*os.File, error) {
	f, err := os.OpenFile(s.path("commands"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	lock := unix.Flock_t{Type: unix.F_RDLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// inUse reports whether a command runs.
func (s *state) inUse() bool {
	f, err := os.Open(s.path("commands"))
	if err != nil {
		return false
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK} // asked about, not taken
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock) == nil && lock.Type != unix.F_UNLCK
}

// clean removes what a dead lab left. Safe to call at once with others.
func (s *state) clean() error {
	err := s.acquire()
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.EAGAIN) {
		return nil // another one cleaned it, or started it anew
	}
	if err != nil {
		return err
	}
	defer s.lock.Close()
	return s.remove()
}

// remove deletes the folder; the lock must be held. The lock file goes last.
func (s *state) remove() error {
	s.empty()
	return errors.Join(os.Remove(s.path("lock")), os.Remove(s.dir))
}

// empty deletes everything but the lock.
func (s *state) empty() {
	for _, file := range []string{"control", "pid", "log", "commands"} {
		_ = os.Remove(s.path(file))
	}
}

// listen makes the control socket. Only its owner can reach it, by the folder's mode.
func (s *state) listen() (*os.File, error) {
	path := s.path("control")
	if len(path) > 107 {
		return nil, fmt.Errorf("%s is too long for a socket (107 bytes): set XDG_RUNTIME_DIR to a shorter path", path)
	}
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	return l.File()
}

// lastWords is the last line of the lab's log.
func (s *state) lastWords() string {
	data, err := os.ReadFile(s.path("log"))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	last := lines[len(lines)-1]
	return last[max(0, len(last)-tailBytes):]
}

// pid is the host's number of the inner.
func (s *state) pid() (int, error) {
	data, err := os.ReadFile(s.path("pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}
