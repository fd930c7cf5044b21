package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode/lab"
)

func newLabRegions() *cobra.Command {
	return &cobra.Command{
		Use:   "regions NAME",
		Short: "List a lab's regions with their addresses",
		Long: `Regions lists the regions of a lab's world with the host name and the addresses that
programs have and find there: see "antipode lab exec".`,
		Args: oneLab,
		RunE: func(cmd *cobra.Command, args []string) error {
			return askLab(cmd, args[0], func(ctx context.Context, l *lab.Lab) ([]byte, error) {
				all, err := l.Regions(ctx)
				if err != nil {
					return nil, err
				}
				var table bytes.Buffer
				err = printPlaces(&table, all)
				return table.Bytes(), err
			})
		},
	}
}

func printPlaces(w io.Writer, all []lab.Place) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "REGION\tNAME\tADDRESS\tIPV6")
	for _, p := range all {
		ipv6 := "-"
		if p.IPv6.IsValid() {
			ipv6 = p.IPv6.String()
		}
		fmt.Fprintf(t, "%s\t%s.lab\t%s\t%s\n", p.Region, p.Name, p.Address, ipv6)
	}
	return t.Flush()
}

func newLabExec() *cobra.Command {
	var name string
	var asRoot bool
	cmd := &cobra.Command{
		Use:   "exec REGION -- COMMAND ARGS...",
		Short: "Run a program of your own in a region of a lab that is up",
		Long: `Exec runs a command in the network of a region, a machine of which nothing but that is
the lab's: files, folder, terminal and environment are yours. Commands in two regions
reach each other with the delay, rate and loss of the lab's world, at the addresses and
names that "antipode lab regions NAME" lists (aws-us-east-1.lab), on every port; security
groups and firewall rules don't apply to them. Neither the host's network nor the internet
can be reached from there.

The exit code is the command's: 128 and the signal's number if one ended it, 126 if it
can't be executed, 127 if it is not found, 2 if exec itself was called wrongly, 1 if it
failed or the lab ended. Signals and Ctrl-C go to the command. What it leaves running ends
with it, with the lab and with antipode, however that ends.`,
		Example: `  antipode lab up planet --world results.csv
  antipode lab exec aws:eu-west-1 -- ./server --port 80
  antipode lab exec gcp:us-east4 -- curl http://aws-eu-west-1.lab/`,
		Args: func(cmd *cobra.Command, given []string) error {
			if dash := cmd.ArgsLenAtDash(); dash != 1 || len(given) < 2 {
				return usageError(`want one region, "--" and a command; usage: %s`, cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return labExec(cmd.Context(), name, args[0], args[1:], asRoot)
		},
	}
	cmd.Flags().StringVar(&name, "lab", "", "the lab `NAME` (default: the only one that is up)")
	cmd.Flags().BoolVar(&asRoot, "root", false, "in a lab of an ordinary user: let the command see itself as root, which may configure the region's network (tc, tcpdump)")
	return cmd
}

func labExec(ctx context.Context, name, region string, command []string, asRoot bool) error {
	name, err := theLab(name)
	if err != nil {
		return err
	}
	entering, cancel := context.WithTimeoutCause(ctx, labTimeout, errLabSilent)
	defer cancel()
	l, err := lab.Enter(entering, name)
	if err != nil {
		return err
	}
	defer l.Close()
	all, err := l.Regions(entering)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(p lab.Place) bool { return p.Region == region }) {
		return usageError("%q is no region of this lab's world; antipode lab regions %s lists them", region, name)
	}
	code, err := l.Exec(ctx, region, command, asRoot)
	if err != nil {
		return err
	}
	if code != 0 {
		return &exitError{code, errors.New("")} // the command has said why
	}
	return nil
}

// theLab is the one of that name, or the only one that is up.
func theLab(name string) (string, error) {
	if name != "" {
		if err := lab.CheckName(name); err != nil {
			return "", usageError("--lab: %w", err)
		}
		return name, nil
	}
	names, err := lab.Names()
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", usageError("no lab is up: start one with antipode lab up NAME")
	case len(names) > 1:
		return "", usageError("--lab: which one? These are up: %s", strings.Join(names, ", "))
	}
	return names[0], nil
}
