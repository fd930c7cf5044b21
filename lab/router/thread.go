//go:build linux

package router

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// ownThread runs f on a thread that nothing else ever runs on, and that ends
// with it: f may change the thread for good.
func ownThread(f func()) {
	go func() {
		runtime.LockOSThread() // and never unlocked, which ends the thread
		if unix.Gettid() != unix.Getpid() {
			f()
			return
		}
		// The main thread does not end. While it waits here the next try
		// gets another one.
		done := make(chan struct{})
		ownThread(func() { defer close(done); f() })
		<-done
		runtime.UnlockOSThread()
	}()
}

// sliceNs asks the scheduler for short turns, which come sooner: the least it
// grants, in nanoseconds (Linux 6.12 and later).
const sliceNs = 100_000

// hasten has the calling thread run soon after it wakes up, as far as the
// process may: before all ordinary threads, or else before those that want
// long turns.
func hasten() {
	fifo := &unix.SchedAttr{
		Policy: unix.SCHED_FIFO, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}
	fifo.Size = unix.SizeofSchedAttr
	if unix.SchedSetAttr(0, fifo, 0) == nil {
		return
	}
	short := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Runtime: sliceNs}
	_ = unix.SchedSetAttr(0, short, 0) // a wish
}
