//go:build unix

package orchestrator

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock holds file until it is closed or the process ends, however that ends.
// It does not wait: errHeld means that another process holds it.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
