package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode/cleanup"
	"github.com/antipode-bench/antipode/orchestrator"
)

type runsFlags struct {
	accountFlags
	out   string
	local bool
}

func newRuns() *cobra.Command {
	f := runsFlags{out: defaultOut}
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List runs: their folders, and what they have in the clouds",
		Long: `Runs lists the runs that have a folder here, and those that have anything in the
clouds, wherever they were started: how far they are, what is left of them, and when
their machines end themselves. A run that was cut short can be resumed until then; one
that ended early was interrupted or stopped, and every pair has a row. It changes nothing.`,
		Example: `  antipode runs --local
  antipode runs --clouds aws
  antipode runs --lab demo`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runs(cmd.Context(), &f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.out, "out", f.out, "`FOLDER` that has the runs' folders")
	flags.BoolVar(&f.local, "local", false, "only the folders: ask no cloud")
	f.accountFlags.register(cmd)
	return cmd
}

func runs(ctx context.Context, f *runsFlags, stdout, stderr io.Writer) error {
	if err := f.accountFlags.check(); err != nil {
		return err
	}
	folders, ferr := orchestrator.Folders(f.out)
	if f.local {
		return errors.Join(printFolders(stdout, folders, nil), ferr)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	a, err := f.open(ctx, slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	found := cleanup.Find(ctx, a.clouds, "")
	err = errors.Join(printFolders(stdout, folders, &found), ferr, a.close())
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	printClosed(stderr, found.Closed)
	if len(found.Unknown) > 0 {
		printUnknown(stderr, found.Unknown)
		return errors.Join(err, fmt.Errorf("%s could not be looked into (--clouds and --local leave some out)", plural(len(found.Unknown), "place")))
	}
	return err
}

// printFolders merges what is known here with what the clouds say; found is nil
// if they were not asked.
func printFolders(w io.Writer, folders []orchestrator.Folder, found *cleanup.Found) error {
	here, there := map[string]orchestrator.Folder{}, map[string]cleanup.Run{}
	ids := map[string]bool{}
	for _, f := range folders {
		here[f.RunID], ids[f.RunID] = f, true
	}
	if found != nil {
		for _, r := range found.Runs {
			there[r.ID], ids[r.ID] = r, true
		}
	}
	if len(ids) == 0 {
		_, err := fmt.Fprintln(w, "no runs")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tSTATE\tREGIONS\tPAIRS\tFOLDER\tIN THE CLOUDS\tEXPIRES")
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		f, known := here[id]
		r := there[id]
		state, regions, pairs, dir := "-", "-", "-", "-"
		if known {
			state, regions, dir = stateWords(f, time.Now()), fmt.Sprint(f.Regions), f.Dir
			pairs = fmt.Sprintf("%d ok of %d", f.OK, max(f.Pairs, f.Rows))
		}
		expires := r.Expires
		if expires.IsZero() {
			expires = f.Expires
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", id, state, regions, pairs, dir, remains(f, r, found), expiryWords(expires, time.Now()))
	}
	return t.Flush()
}

// stateWords is how far a run came, and whether it goes on.
func stateWords(f orchestrator.Folder, now time.Time) string {
	switch {
	case f.Running:
		return "running"
	case f.Resumable(now):
		return "can be resumed"
	case f.Rows < f.Pairs || f.Pairs == 0:
		return "cut short"
	case f.Stopped != "":
		return "ended early"
	}
	return "finished"
}

// remains is what a run has in the clouds, as far as anybody knows.
func remains(f orchestrator.Folder, r cleanup.Run, found *cleanup.Found) string {
	switch {
	case len(r.Resources) > 0:
		return holdings(r.Resources)
	case f.TornDown:
		return "torn down"
	case found == nil:
		return "not torn down"
	case len(found.Unknown) > 0:
		return "nothing seen"
	}
	return "nothing"
}
