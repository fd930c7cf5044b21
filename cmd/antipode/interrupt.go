package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// interruptible returns a context that the first Ctrl-C, SIGTERM or hang-up
// ends, so that the run tears down. The second exits at once, and says how to
// find what may be left. stop undoes it, and ends the context.
func interruptible(ctx context.Context, stderr io.Writer, runID string) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		first, ok := <-signals
		if !ok {
			return
		}
		fmt.Fprintf(stderr, "\n%v: no new tests, tearing down; once more leaves at once\n", first)
		cancel(errInterrupted)
		if _, ok := <-signals; ok {
			fmt.Fprintf(stderr, "left at once: machines end themselves when the run expires; look for the tag or label antipode-run=%s\n", runID)
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
