package orchestrator

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock holds file until it is closed or the process ends, however that ends.
// It does not wait: errHeld means that another process holds it. The byte that
// is locked is far behind the file's end, so that others can read the file.
func lock(file *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
