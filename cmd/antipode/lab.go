package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/lab"
	labworld "github.com/antipode-bench/antipode/lab/world"
)

// labTimeout bounds every question to a lab that is up.
const labTimeout = 30 * time.Second

var errLabSilent = fmt.Errorf("the lab does not answer within %v", labTimeout)

func newLab() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Keep a lab running and look into it",
		Long: `The lab is a planet in a box: the clouds' APIs on local doors, machines as process
trees with real TCP, and an internet with known delays and rates between them. It
needs Linux, no root and no cloud account. "antipode sweep --lab" starts one for the
sweep; "antipode lab up NAME" keeps one running for "antipode sweep --lab=NAME", and for
programs of your own in its regions: "antipode lab exec".`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLabUp(), newLabDown(), newLabList(), newLabInventory(), newLabTruth(), newLabRegions(), newLabExec())
	return cmd
}

// oneLab takes one argument, the name of a lab.
func oneLab(cmd *cobra.Command, given []string) error {
	if err := args(cobra.ExactArgs(1))(cmd, given); err != nil {
		return err
	}
	if err := lab.CheckName(given[0]); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

func newLabUp() *cobra.Command {
	var f labFlags
	cmd := &cobra.Command{
		Use:   "up NAME",
		Short: "Start a lab that keeps running",
		Long: `Up starts a lab in the background, with a place for every AWS and Google Cloud region,
and returns when it is up. Sweep on it with "antipode sweep --lab=NAME", run programs of
your own in its regions with "antipode lab exec"; it runs on until "antipode lab down
NAME".`,
		Args: oneLab,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := regionsFrom(f.regionsFile)
			if err != nil {
				return err
			}
			options, err := f.options(measurable(all), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), labTimeout, errLabSilent)
			defer cancel()
			if err := lab.Up(ctx, args[0], options); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "lab %s is up: antipode sweep --lab=%s\n", args[0], args[0])
			return nil
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&f.regionsFile, "regions-file", "", regionsFileUsage)
	return cmd
}

func newLabDown() *cobra.Command {
	return &cobra.Command{
		Use:   "down NAME",
		Short: "End a lab and everything in it",
		Args:  oneLab,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), labTimeout, errLabSilent)
			defer cancel()
			if err := lab.Down(ctx, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "lab %s is down\n", args[0])
			return nil
		},
	}
}

func newLabList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the labs that are up",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			names, err := lab.Names()
			for _, name := range names {
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
			return err
		},
	}
}

func newLabInventory() *cobra.Command {
	return &cobra.Command{
		Use:   "inventory NAME",
		Short: "Print what exists behind a lab's doors, as JSON",
		Long: `Inventory prints everything that exists in a lab: cloud resources as the lab itself
sees them, and the processes of its machines. After a sweep no process is left but the
places of "antipode lab exec", and no resource but instances that are "terminated", which
EC2 goes on listing for a while.`,
		Args: oneLab,
		RunE: func(cmd *cobra.Command, args []string) error {
			return askLab(cmd, args[0], func(ctx context.Context, l *lab.Lab) ([]byte, error) { return l.Inventory(ctx) })
		},
	}
}

func newLabTruth() *cobra.Command {
	return &cobra.Command{
		Use:   "truth RUN|NAME",
		Short: "Print the true RTT and rate of every pair, as CSV",
		Long: `Truth prints what a perfect measurement would have said: of a lab run (its folder, or
its id with the folder under runs/), or of the lab NAME that is up.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, dir := range []string{args[0], filepath.Join(defaultOut, args[0])} {
				data, err := os.ReadFile(filepath.Join(dir, truthFile))
				if err == nil {
					_, err = cmd.OutOrStdout().Write(data)
					return err
				}
				if !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			neither := usageError("%q: neither a run with a %s nor a lab that is up", args[0], truthFile)
			if lab.CheckName(args[0]) != nil {
				return neither
			}
			err := askLab(cmd, args[0], truthOf(conditions{}))
			if errors.Is(err, lab.ErrNoLab) {
				return neither
			}
			return err
		},
	}
}

// askLab enters a lab that is up, asks it one thing and prints the answer.
func askLab(cmd *cobra.Command, name string, ask func(context.Context, *lab.Lab) ([]byte, error)) error {
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), labTimeout, errLabSilent)
	defer cancel()
	l, err := lab.Enter(ctx, name)
	if err != nil {
		return err
	}
	defer l.Close()
	answer, err := ask(ctx, l)
	if err != nil {
		return err
	}
	if n := len(answer); n > 0 && answer[n-1] != '\n' {
		answer = append(answer, '\n')
	}
	_, err = cmd.OutOrStdout().Write(answer)
	return err
}

// measurable are the regions that a lab has doors for.
func measurable(all []antipode.Region) []antipode.Region {
	return slices.DeleteFunc(slices.Clone(all), func(r antipode.Region) bool {
		_, ok := defaultMachineTypes().preferences[r.Cloud]
		return !ok
	})
}

// labFlags shape a new lab.
type labFlags struct {
	world, faults, link, regionsFile string
}

func (f *labFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.world, "world", "", "the lab's delays and rates from this `FILE` instead of from distance: results that were measured, of any kind that \"antipode report\" reads, or a run's world.yaml")
	flags.StringVar(&f.world, "lab-world", "", "") // its earlier name
	_ = flags.MarkHidden("lab-world")
	flags.StringVar(&f.faults, "lab-faults", "", "what goes wrong in the lab, from this YAML `FILE` (docs/lab.md)")
	flags.StringVar(&f.link, "lab-link", "", "`KIND` of link between machines and the lab's router: tun or veth (default: tun where /dev/net/tun is open to the user)")
}

// options reads what the flags name.
func (f *labFlags) options(regions []antipode.Region, say io.Writer) (lab.Options, error) {
	machine, err := labMachine()
	if err != nil {
		return lab.Options{}, err
	}
	o := lab.Options{World: labworld.Default(regions), Link: f.link, Machine: machine}
	if f.world != "" {
		if o.World, err = loadWorld(f.world, regions, say); err != nil {
			return o, usageError("--world: %w", err)
		}
	}
	if f.faults != "" {
		if o.Faults, err = lab.LoadFaults(f.faults); err != nil {
			return o, usageError("--lab-faults: %w", err)
		}
	}
	return o, nil
}
