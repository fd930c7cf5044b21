package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode/cleanup"
	"github.com/antipode-bench/antipode/providers"
)

type cleanupFlags struct {
	accountFlags
	runID   string
	expired bool
	all     bool
	dryRun  bool
	yes     bool

	patience time.Duration
}

func newCleanup() *cobra.Command {
	var f cleanupFlags
	cmd := &cobra.Command{
		Use:   "cleanup (--run ID | --expired | --all)",
		Short: "Remove what runs have left in the clouds",
		Long: `Cleanup finds what runs have left in the clouds by its tags, labels and names, in every
commercial region at once, removes it, and looks again. It needs no file of the run,
only the credentials of its account, so it works from any computer; it is safe to
repeat, and touches neither other runs nor anything that Antipode did not make.

It exits with 4 and a table when something is left, or when a region could not be
looked into: that is unknown, not clean. Regions that the account has not enabled are
left out. A cloud that does not answer is asked again for the time of --patience.`,
		Example: `  antipode cleanup --run 20261130t172233z-ab12
  antipode cleanup --expired --clouds aws
  antipode cleanup --all --dry-run
  antipode cleanup --all --lab demo`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return clean(cmd.Context(), &f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.runID, "run", "", "remove what is left of the run `ID`")
	flags.BoolVar(&f.expired, "expired", false, fmt.Sprintf("remove every run whose time was over %v ago", cleanup.Grace))
	flags.BoolVar(&f.all, "all", false, "remove every run, also those that are going on (asks first)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only list what would be removed")
	flags.BoolVar(&f.yes, "yes", false, "don't ask before every run is removed")
	flags.DurationVar(&f.patience, "patience", 15*time.Minute, "go on for so long, a `TIME`, with clouds that do not answer")
	f.accountFlags.register(cmd)
	return cmd
}

func (f *cleanupFlags) check() error {
	chosen := 0
	for _, is := range []bool{f.runID != "", f.expired, f.all} {
		if is {
			chosen++
		}
	}
	switch {
	case chosen == 0:
		return usageError("which runs? give --run ID for one, --expired for those whose time is over, or --all; antipode runs lists them")
	case chosen > 1:
		return usageError("--run, --expired and --all exclude each other")
	}
	if f.patience < 0 {
		return usageError("--patience %v: not below zero", f.patience)
	}
	if f.runID != "" {
		if err := providers.CheckRunID(f.runID); err != nil {
			return usageError("--run: %w", err)
		}
	}
	return f.accountFlags.check()
}

// clean finds the chosen runs, removes them, and says what is left.
func clean(ctx context.Context, f *cleanupFlags, stdout, stderr io.Writer) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelDebug
	}
	a, err := f.open(ctx, slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	found := cleanup.Find(ctx, a.clouds, f.runID)
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: nothing was removed")}
	}
	printClosed(stderr, found.Closed)
	chosen := f.choose(found, stderr)
	if f.dryRun {
		return tellDryRun(stdout, chosen, found.Unknown)
	}
	if err := f.confirm(chosen, stderr); err != nil {
		return err
	}
	began := time.Now()
	out := cleanup.Clean(ctx, a.clouds, found.Closed, chosen, cleanup.Patience{Limit: f.patience, Tell: tellPause(stderr)})
	if ctx.Err() != nil {
		return &exitError{exitTeardown, errors.New("interrupted: what is left is unknown; the same command goes on with it")}
	}
	return tellCleaned(stdout, chosen, out, time.Since(began))
}

// choose picks the runs to remove. One that is named is removed though nothing
// of it was seen: lists may be late.
func (f *cleanupFlags) choose(found cleanup.Found, stderr io.Writer) []cleanup.Run {
	switch {
	case f.runID != "" && len(found.Runs) == 0:
		return []cleanup.Run{{ID: f.runID}}
	case f.expired:
		expired, unsure := cleanup.Expired(found.Runs, time.Now())
		for _, r := range unsure {
			fmt.Fprintf(stderr, "run %s: nobody knows when it expires: left alone, remove it with --run\n", r.ID)
		}
		return expired
	}
	return found.Runs
}

// confirm asks before every run is removed, also those that are going on.
func (f *cleanupFlags) confirm(chosen []cleanup.Run, stderr io.Writer) error {
	if !f.all || len(chosen) == 0 {
		return nil
	}
	printRuns(stderr, chosen)
	if f.yes {
		return nil
	}
	return ask(stderr, "Remove "+plural(len(chosen), "run")+"?", "to remove them", "nothing was removed")
}
