package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/orchestrator"
)

func newResume() *cobra.Command {
	f := &sweepFlags{out: defaultOut}
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a sweep whose process was killed",
		Long: `Resume goes on with a sweep that ended without tearing down: killed, or with its
computer. It adopts the machines that are still there, launches those that are missing,
measures the pairs that have no row in results.csv yet, tears everything down and draws
the charts. RUN is a run's id or its folder. A run that has expired is only torn down; of
a finished one nothing is left to do but to look again that nothing is left. From another
network, the machines' SSH is opened to this computer's present address instead.`,
		Example: `  antipode resume 20261130t172233z-ab12
  antipode resume runs/20261130t172233z-ab12 --lab=demo`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.checkSSHFrom(); err != nil {
				return err
			}
			return resume(cmd.Context(), f, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.labName, "lab", "", "the lab that is up under `NAME` (default: as the sweep had it)")
	flags.StringVar(&f.sshFrom, "ssh-from", "", "this computer's public IPv4 `ADDRESS`, the only one let in to SSH (default: found out)")
	flags.StringVar(&f.out, "out", f.out, "`FOLDER` that has the run's folder")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say more of what happens")
	return cmd
}

// resume is the rest of a sweep.
func resume(ctx context.Context, f *sweepFlags, run string, stdout, stderr io.Writer) (err error) {
	dir, err := findRun(f.out, run)
	if err != nil {
		return err
	}
	past, err := orchestrator.Reopen(dir)
	if errors.Is(err, orchestrator.ErrNothingMade) {
		fmt.Fprintf(stdout, "run %s ended before it made anything: nothing to do, nothing is left\n", filepath.Base(dir))
		return nil
	}
	if err != nil {
		return err
	}
	defer past.Close() // again, after Resume: harmless
	if err := f.restore(past.Manifest.Command); err != nil {
		return err
	}
	if err := f.findAgain(); err != nil {
		return err
	}
	if f.labName == ownLab {
		return lostLab(past, stdout)
	}
	fmt.Fprintln(stderr, outlook(past))
	ifLeft := f.ifLeft(past.Manifest.RunID, past.Clouds())
	show := newProgress(stderr)
	defer show.close()
	ctx, stop := interruptible(ctx, show, ifLeft)
	defer stop(nil)

	log := slog.New(slog.NewTextHandler(show, &slog.HandlerOptions{Level: f.logLevel()}))
	v, err := openVenue(ctx, f, standIns(past.Clouds()), log, show)
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	v.resumed = true
	defer func() { err = errors.Join(err, v.close()) }()
	finished := past.Finished()
	summary, err := goOn(ctx, f, past, v, log, show.event)
	show.close()
	if err != nil && summary.RunID == "" {
		return err
	}
	how := conditionsOf(past.Manifest.MachineTypes, past.Config().Test, past.Manifest.Tune)
	err = conclude(v, summary, how, ifLeft, err, stdout, stderr)
	if added := f.into.add(summary.Dir); added != nil {
		return errors.Join(err, added)
	}
	if finished && exitCode(err) == exitPairs {
		return nil // that pairs failed is known
	}
	return err
}

// goOn does what is left to do and shows how far it is.
func goOn(ctx context.Context, f *sweepFlags, past *orchestrator.Past, v *venue, log *slog.Logger, observe func(orchestrator.Event)) (orchestrator.Summary, error) {
	reach, err := sameRemote(past, v, f)
	if err != nil {
		return orchestrator.Summary{}, err
	}
	cfg := past.Config()
	f.networkTier = cfg.Choice.NetworkTier
	if cfg.Rates, err = f.rates(); err != nil {
		return orchestrator.Summary{}, err
	}
	cfg.Providers, cfg.Remote, cfg.ControllerAddr = v.providers, reach, v.address
	cfg.Fastest = v.fastest(cfg.Choice.Path)
	cfg.Baseline, cfg.Remarks, cfg.Limits, cfg.Observer, cfg.Log = v.baseline, v.remarks(), f.limits(), observe, log
	ctx, leave := v.within(ctx)
	defer leave()
	return orchestrator.Resume(ctx, past, cfg)
}

// sameRemote has the run's keys; new ones if no machine has the old, and none
// (nil) if they are lost.
func sameRemote(past *orchestrator.Past, v *venue, f *sweepFlags) (orchestrator.Remote, error) {
	probes, err := probes()
	ssh := v.ssh(past.Manifest.RunID, probes, f)
	switch {
	case err != nil:
		return nil, err
	case past.Secrets != nil:
		return orchestrator.RestoreSSH(past.Secrets, ssh)
	case past.Untouched() || past.Finished():
		return orchestrator.NewSSH(ssh)
	}
	return nil, nil
}

// outlook says what a resume is going to do.
func outlook(past *orchestrator.Past) string {
	id, left := past.Manifest.RunID, len(past.Remaining())
	switch {
	case past.Finished():
		return fmt.Sprintf("run %s is finished: nothing to do but to look that nothing is left", id)
	case left == 0:
		return fmt.Sprintf("run %s: every pair has a row; tearing down", id)
	case past.Expired():
		return fmt.Sprintf("run %s has expired: no more pairs are measured, what is left is torn down", id)
	}
	return fmt.Sprintf("run %s: %d of %s without a row", id, left, plural(len(past.Manifest.Pairs), "pair"))
}

// lostLab ends a run of a lab that lived and died with its sweep.
func lostLab(past *orchestrator.Past, stdout io.Writer) error {
	if err := past.Forget(); err != nil {
		return err
	}
	if past.Finished() {
		fmt.Fprintf(stdout, "run %s is finished: nothing to do, nothing is left\n", past.Manifest.RunID)
		return nil
	}
	return fmt.Errorf("run %s: its lab ended with the sweep, and everything in it, so nothing is left and nothing can go on; "+
		"sweep again, with --lab=NAME on a lab that stays (antipode lab up NAME)", past.Manifest.RunID)
}

// standIns are regions of the clouds, one each.
func standIns(clouds []string) []antipode.Region {
	var regions []antipode.Region
	for _, cloud := range clouds {
		regions = append(regions, antipode.Region{Cloud: cloud})
	}
	return regions
}

// findRun returns the folder of a run, which is given by that or by its id.
func findRun(out, run string) (string, error) {
	for _, dir := range []string{filepath.Join(out, run), run} {
		_, err := os.Stat(filepath.Join(dir, "journal.jsonl"))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", usageError("no run %s: neither in the folder %s (--out) nor a run's folder itself", run, out)
}
