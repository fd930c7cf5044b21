//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/antipode-bench/antipode/probe"
	"github.com/antipode-bench/antipode/probe/wire"
)

// orphanCheck is how often the agent looks for its parent.
const orphanCheck = time.Second

// runAgent ends with its standard input, or with the process that started it:
// somebody else may hold the other end of the input open. (PR_SET_PDEATHSIG
// would kill it when the parent's thread ends, which need not be the parent.) A
// connection that broke without a word keeps both; then silence ends it.
func runAgent(args []string) error {
	flags := newFlags("agent", "agent [--linger TIME]")
	linger := flags.Duration("linger", wire.DefaultLinger, "end after so long a silence of the controller")
	if rest, err := parse(flags, args); err != nil || len(rest) > 0 {
		return surplus(rest, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go watchParent(ctx, os.Getppid(), os.Getppid, func(err error) {
		cancel(err)
		os.Exit(1) // whatever is still going on has nobody to report to
	})
	agent := probe.NewAgent(version)
	agent.Linger = *linger
	return agent.Run(ctx, os.Stdin, os.Stdout)
}

// watchParent calls orphaned when the parent is another than it was.
func watchParent(ctx context.Context, parent int, getppid func() int, orphaned func(error)) {
	tick := time.NewTicker(orphanCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if getppid() != parent {
				orphaned(errors.New("the parent process is gone"))
				return
			}
		}
	}
}
