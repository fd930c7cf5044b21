package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/orchestrator/plan"
)

// defaultOut is where runs leave their folders.
const defaultOut = "runs"

func newSweep() *cobra.Command {
	f := defaultSweepFlags()
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Measure every pair of the chosen regions",
		Long: `Sweep launches one machine per region, measures round-trip time and TCP goodput of
every directed pair, tears everything down, and leaves results.csv and charts in a
folder of its own. Real clouds charge for machines and for the data moved; --lab runs
the same sweep on the built-in lab, which costs nothing. --hosts measures between
machines you already have, alone or with the regions that are named.

TIME is written as 500ms, 10s or 2m, BYTES as 64KiB, 10MB or 1.5GB. Put what has a ">" in
quotes. In --regions and --pairs the cloud may be left out where only one has the name.`,
		Example: `  antipode sweep --lab --max-regions 6
  antipode sweep --lab --cloud-pairs "aws>gcp" --min-km 5000 --max-regions 10
  antipode sweep --regions aws:us-east-1,gcp:us-east4 --bytes 100MB
  antipode sweep --hosts hosts.yaml --regions aws:us-east-1`,
		Args: noSweepArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.settle(cmd.Flags())
			return sweep(cmd.Context(), f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.register(cmd)
	return cmd
}

// noSweepArgs knows how a lab's name gets there: --lab stands alone too, so the
// name after it is not its value.
func noSweepArgs(cmd *cobra.Command, given []string) error {
	if len(given) > 0 && cmd.Flags().Changed("lab") {
		return usageError("unexpected %q: the name of a lab that is up goes with an equals sign, --lab=NAME", given[0])
	}
	return args(cobra.NoArgs)(cmd, given)
}

// sweep is the whole of a run as a user sees it. Everything that may be wrong
// with the wishes is found before anything is started.
func sweep(ctx context.Context, f *sweepFlags, stdout, stderr io.Writer) (err error) {
	p, err := f.plan()
	if errors.Is(err, plan.ErrNoneMissing) {
		return f.tellNoneMissing(stdout)
	}
	if err != nil {
		return err
	}
	run, err := newFolder(f.out)
	if err != nil {
		return err
	}
	defer run.removeIfEmpty()
	if err := p.confirm(stderr); err != nil {
		return err
	}
	ifLeft := f.ifLeft(run.id, cloudsOf(p.regions))
	show := newProgress(stderr)
	defer show.close()
	// Armed before anything exists, so that Ctrl-C can't skip the teardown.
	ctx, stop := interruptible(ctx, show, ifLeft)
	defer stop(nil)

	log := slog.New(slog.NewTextHandler(show, &slog.HandlerOptions{Level: f.logLevel()}))
	v, err := openVenue(ctx, f, p.regions, log, show)
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, v.close()) }()
	if err := p.preflight(ctx, v, show); err != nil {
		return unlessInterrupted(ctx, err)
	}
	summary, err := measure(ctx, f, run, p, v, log, show.event)
	show.close()
	if err != nil && summary.RunID == "" {
		return err // refused before anything was created
	}
	err = conclude(v, summary, conditionsOf(f.machines.first(), f.test(), f.tune), ifLeft, err, stdout, stderr)
	return errors.Join(err, f.into.add(summary.Dir))
}

// conclude writes the files that follow from what was measured, says where they
// are, and gives the verdict. err is the run's own.
func conclude(v *venue, s orchestrator.Summary, how conditions, ifLeft string, err error, stdout, stderr io.Writer) error {
	if kept := v.keep(s.Dir, how); !errors.Is(err, errLabEnded) || !errors.Is(kept, errLabEnded) { // once
		err = errors.Join(err, kept)
	}
	err = errors.Join(err, tell(stdout, s.Dir, s))
	return verdict(s, ifLeft, err)
}

// measure does what was planned and shows how far it is.
func measure(ctx context.Context, f *sweepFlags, run folder, p planned, v *venue, log *slog.Logger, observe func(orchestrator.Event)) (orchestrator.Summary, error) {
	probes, err := probes()
	if err != nil {
		return orchestrator.Summary{}, err
	}
	reach, err := orchestrator.NewSSH(v.ssh(run.id, probes, f))
	if err != nil {
		return orchestrator.Summary{}, err
	}
	ctx, leave := v.within(ctx)
	defer leave()
	pairs, batches := p.limit()
	return orchestrator.Run(ctx, orchestrator.Config{
		RunID:          run.id,
		Dir:            run.dir,
		Expires:        time.Now().Add(p.maxTime()).Truncate(time.Second),
		Pairs:          pairs,
		Batches:        batches,
		Barred:         p.barred,
		AtOnce:         p.atOnce,
		Providers:      v.providers,
		MachineTypes:   f.machines.first(),
		Choice:         f.choice(),
		Remote:         reach,
		ControllerAddr: v.address,
		ProbePort:      f.sockets.probePort,
		Isolation:      f.sockets.isolation(),
		Test:           f.test(),
		Repeat:         f.repeat.repetition(),
		Tune:           f.tune,
		Flags:          f.rowFlags(),
		Baseline:       v.baseline,
		Remarks:        v.remarks(),
		Rates:          p.rates,
		BudgetUSD:      f.budgetUSD,
		Fastest:        v.fastest(f.path),
		Estimate:       p.forecast().estimate(),
		Version:        version,
		Command:        f.forResume(),
		Limits:         f.limits(),
		Observer:       observe,
		Log:            log,
	})
}

// verdict turns a summary into the command's error, which carries the exit code.
func verdict(s orchestrator.Summary, ifLeft string, err error) error {
	switch {
	case s.Teardown != nil || len(s.Left) > 0:
		return &exitError{exitTeardown, errors.Join(
			fmt.Errorf("teardown of run %s is incomplete; %s", s.RunID, ifLeft), s.Teardown, err)}
	case s.Interrupted:
		return &exitError{exitInterrupted, errors.Join(errors.New("interrupted: everything is torn down, what was measured is kept"), besides(err, errInterrupted))}
	case s.OverBudget:
		return &exitError{exitRefused, fmt.Errorf("%w; everything is torn down, what was measured is kept", err)}
	case err != nil:
		return err
	case s.Failed > 0:
		if s.Rows > s.Pairs {
			return &exitError{exitPairs, fmt.Errorf("%d of %d measurements failed", s.Failed, s.Rows)}
		}
		return &exitError{exitPairs, fmt.Errorf("%d of %d pairs failed", s.Failed, s.Pairs)}
	case s.Unreached() > 0:
		return &exitError{exitPairs, fmt.Errorf("%s never reached", plural(s.Unreached(), "region"))}
	}
	return nil
}

// besides is what err says that cause does not.
func besides(err, cause error) error {
	if !errors.Is(err, cause) {
		return err
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var rest []error
	for _, part := range joined.Unwrap() {
		rest = append(rest, besides(part, cause))
	}
	return errors.Join(rest...)
}

// folder is where a run keeps its files.
type folder struct{ id, dir string }

// newFolder makes the folder of a new run, and so proves that files can be
// written there before anything is started that would have to be kept.
func newFolder(out string) (folder, error) {
	id, err := orchestrator.NewRunID(time.Now(), rand.Reader)
	if err != nil {
		return folder{}, err
	}
	f := folder{id, filepath.Join(out, id)}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return f, fmt.Errorf("--out %s: %w", out, err)
	}
	if err := os.Mkdir(f.dir, 0o755); err != nil {
		return f, fmt.Errorf("--out %s: %w", out, err)
	}
	return f, nil
}

// removeIfEmpty leaves no trace of a run that was refused before it began.
func (f folder) removeIfEmpty() { os.Remove(f.dir) }
