package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode"
)

// newRoot builds the whole command. Errors are printed once, by main.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "antipode",
		Short: "Measure throughput and round-trip time between cloud regions",
		Long: `Antipode measures TCP throughput and round-trip time between cloud regions, within
and across AWS and GCP, and draws both against great-circle distance.

Try it without any cloud:  antipode sweep --lab --max-regions 6
Each command tells more:   antipode sweep --help`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          args(cobra.NoArgs),
		// Of the command that runs, whichever it is.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return prepare(cmd.Flags()) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Flags().Bool("version", false, "print the version") // cobra's own takes -v, which is --verbose elsewhere
	root.SetUsageFunc(usage)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%w (see %s --help)", err, cmd.CommandPath())
	})
	root.AddCommand(newSweep(), newPlan(), newInit(), newCoverage(), newDoctor(), newResume(), newRuns(), newReport(), newCompare(), newExport(), newCleanup(), newRegions(), newLab())
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// args makes a wrong number of arguments a usage error that shows the usage line.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// prepare looks at the flags before any command does.
func prepare(flags *pflag.FlagSet) error {
	if err := refuseEmpty(flags); err != nil {
		return err
	}
	return readConfig(flags)
}

// refuseEmpty refuses flags without a value. To a script that says --lab="$LAB"
// or --regions "$REGIONS" with the variable unset they would mean the real
// clouds, or every region there is.
func refuseEmpty(flags *pflag.FlagSet) error {
	var errs []error
	flags.Visit(func(f *pflag.Flag) {
		if v := f.Value.String(); v == "" || v == "[]" {
			errs = append(errs, usageError("--%s: its value is empty", f.Name))
		}
	})
	return errors.Join(errs...)
}

const regionsFileUsage = "read the regions from this YAML `FILE` instead of the built-in ones"

// regionsFrom reads the regions from a file, or takes the built-in ones.
func regionsFrom(file string) ([]antipode.Region, error) {
	if file == "" {
		return antipode.Regions(), nil
	}
	regions, err := antipode.LoadRegions(file)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return regions, nil
}
