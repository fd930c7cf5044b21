package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/providers/aws"
	"github.com/antipode-bench/antipode/providers/gcp"
	"github.com/antipode-bench/antipode/providers/hosts"
)

func newDoctor() *cobra.Command {
	f := defaultSweepFlags()
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what a sweep would meet, without creating anything",
		Long: `Doctor asks the clouds, in all regions at once, what a sweep with the same flags would
meet: credentials, permissions (by dry runs), regions that the account has not enabled,
image, machine type and its zones, default VPC or room for another, quotas. It creates
nothing, and takes every flag that a sweep takes. A sweep asks the same before it begins.

It exits with 0 if every region can take part, and with 5 if one can't. What can't be
asked is left open: organisation policies show only when a machine is made, and rights
to delete on AWS only when there is something to delete.`,
		Example: `  antipode doctor --clouds aws
  antipode doctor --regions aws:us-east-1,gcp:us-east4 --machine-type aws=c7gn.large
  antipode doctor --lab --max-regions 6`,
		Args: noSweepArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return doctor(cmd.Context(), f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.register(cmd)
	for _, name := range []string{"stop", "error-percent", "duration", "bytes", "streams", "congestion-control", "rtt-probes", "rtt-interval",
		"ssh-from", "max-time", "boot-timeout", "reconnect-timeout", "world", "lab-link", "out", "yes", "no-preflight"} {
		_ = cmd.Flags().MarkHidden(name) // taken, but no matter to it
	}
	return cmd
}

// doctor asks and tells.
func doctor(ctx context.Context, f *sweepFlags, stdout, stderr io.Writer) (err error) {
	regions, err := regionsFrom(f.lab.regionsFile)
	if err != nil {
		return err
	}
	if regions, err = f.withHosts(regions); err != nil {
		return err
	}
	chosen, _, err := f.selection(regions)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: f.logLevel()}))
	a, g, end, err := f.accounts(ctx, chosen, log, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	clouds := map[string]providers.Provider{}
	for _, name := range cloudsOf(chosen) {
		clouds[name] = f.openOrRefuse(ctx, name, a, g)
	}
	found := f.askClouds(ctx, clouds, chosen)
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errInterrupted}
	}
	return found.diagnose(stdout)
}

// accounts is the way to the clouds, or into a lab, and how to end that.
func (f *sweepFlags) accounts(ctx context.Context, regions []antipode.Region, log *slog.Logger, say io.Writer) (aws.Options, gcp.Options, func() error, error) {
	if f.labName == "" {
		a, g := f.cloudOptions(log)
		return a, g, func() error { return nil }, nil
	}
	l, err := startLab(ctx, f, regions, say)
	if err != nil {
		return aws.Options{}, gcp.Options{}, nil, err
	}
	a, g := doorOptions(l, f.awsRole, f.callTimeout, log)
	return a, g, l.Close, nil
}

// openOrRefuse opens a cloud. One that can't be opened says so when asked.
func (f *sweepFlags) openOrRefuse(ctx context.Context, name string, a aws.Options, g gcp.Options) providers.Provider {
	if name == hosts.Cloud {
		return hosts.New(f.hosts)
	}
	opened, err := openClouds(ctx, []string{name}, a, g)
	if err != nil {
		return unreachable{cloud: name, err: err}
	}
	return opened[name]
}

// Preflight refuses everything.
func (u unreachable) Preflight(_ context.Context, w providers.Wanted) providers.Preflight {
	answer := providers.Preflight{Cloud: u.cloud, Findings: []providers.Finding{providers.Found(providers.VerdictRefuse, u.err)}}
	for _, name := range w.Regions {
		answer.Regions = append(answer.Regions, providers.RegionPreflight{Region: name})
	}
	return answer
}

// diagnose prints everything, and is an error unless all regions can take part.
func (p preflight) diagnose(w io.Writer) error {
	limits := p.atOnce()
	for _, cloud := range p {
		_, limited := limits[cloud.Cloud]
		tellAccount(w, cloud, limited)
	}
	barred, all := p.barred(), 0
	var table strings.Builder
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nREGION\tVERDICT\tMACHINE\tZONES\tTIGHTEST QUOTA\tREASON")
	for _, cloud := range p {
		for _, r := range cloud.Regions {
			all++
			tellRegion(t, cloud, r)
		}
	}
	_ = t.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(table.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
	if len(barred) > 0 {
		return refusal("%d of %s can't take part", len(barred), plural(all, "region"))
	}
	fmt.Fprintf(w, "\n%s can take part\n", plural(all, "region"))
	return nil
}

// tellAccount is what is true of all regions; limited if not all of them can
// have their machine at once.
func tellAccount(w io.Writer, cloud providers.Preflight, limited bool) {
	switch {
	case cloud.Account != "":
		fmt.Fprintf(w, "%s: account %s\n", cloud.Cloud, cloud.Account)
	case cloud.Cloud == hosts.Cloud:
		fmt.Fprintf(w, "%s: machines you already have are asked nothing\n", cloud.Cloud)
	}
	batches := ""
	if limited {
		batches = " at a time: a sweep measures in batches"
	}
	for _, a := range cloud.Allowances {
		fmt.Fprintf(w, "%s: %v, room for %s%s\n", cloud.Cloud, a, plural(a.Room(), "machine"), batches)
	}
	for _, f := range cloud.Findings {
		fmt.Fprintf(w, "%s: %s: %s\n", cloud.Cloud, f.Verdict, f.Reason)
	}
}

// tellRegion is a line for a region, and one more for each further finding.
func tellRegion(w io.Writer, cloud providers.Preflight, r providers.RegionPreflight) {
	if providers.Worst(cloud.Findings).Verdict == providers.VerdictRefuse {
		r.Findings = []providers.Finding{{Verdict: providers.VerdictSkip, Reason: "as the whole account"}}
	}
	worst := providers.Worst(r.Findings)
	quota := "unknown"
	if tightest, ok := providers.Tightest(r.Allowances); ok {
		quota = tightest.String()
	}
	fmt.Fprintf(w, "%s:%s\t%s\t%s\t%s\t%s\t%s\n", cloud.Cloud, r.Region, worst.Verdict, dash(r.MachineType), dash(zoneLetters(r)), quota, worst.Reason)
	for _, f := range r.Findings {
		if f != worst {
			fmt.Fprintf(w, "\t%s\t\t\t\t%s\n", f.Verdict, f.Reason)
		}
	}
}

// zoneLetters are a region's zones without what they share with it.
func zoneLetters(r providers.RegionPreflight) string {
	var letters []string
	for _, zone := range r.Zones {
		letters = append(letters, strings.TrimPrefix(strings.TrimPrefix(zone, r.Region), "-"))
	}
	return strings.Join(letters, " ")
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
