package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// sameWish is how soon after the first a signal is still the same wish to stop:
// timeout(1) and many a supervisor signal a command and then its process group,
// of which the command is one too.
const sameWish = time.Second

// interruptible returns a context that the first Ctrl-C, SIGTERM or hang-up
// ends, so that the run tears down. A later one exits at once, and says how to
// remove what may be left. stop undoes it, and ends the context.
func interruptible(ctx context.Context, show progress, ifLeft string) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup has it
			signal.Notify(signals, s)
		}
	}
	// Whoever reads our output may be gone, as tee is after the same Ctrl-C:
	// with a handler, which nothing undoes, writes to it fail instead of ending
	// the teardown.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if heed(signals, cancel, show, ifLeft) {
			show.close() // or the last words are not drawn
			os.Exit(exitInterrupted)
		}
	}()
	return ctx, func(cause error) {
		signal.Stop(signals)
		close(signals)
		<-gone
		cancel(cause)
	}
}

// heed cancels at the first signal, and is true at the next that is another wish.
// A terminal that closes hangs up once more, but nobody asks to leave. It is
// false when signals is closed.
func heed(signals <-chan os.Signal, cancel context.CancelCauseFunc, stderr io.Writer, ifLeft string) (leave bool) {
	first, ok := <-signals
	if !ok {
		return false
	}
	since := time.Now()
	cancel(errInterrupted)
	fmt.Fprintf(stderr, "%v: no new tests, tearing down; once more leaves at once\n", first)
	for s := range signals {
		if s != syscall.SIGHUP && time.Since(since) >= sameWish {
			fmt.Fprintf(stderr, "left at once; %s\n", ifLeft)
			return true
		}
	}
	return false
}

// unlessInterrupted is err, or the interruption if that is what it comes from.
func unlessInterrupted(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		return &exitError{exitInterrupted, errInterrupted}
	}
	return err
}
