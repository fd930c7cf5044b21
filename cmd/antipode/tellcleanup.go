package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/antipode-bench/antipode/cleanup"
	"github.com/antipode-bench/antipode/providers"
)

// tellDryRun lists every resource that would be removed.
func tellDryRun(w io.Writer, chosen []cleanup.Run, unknown []cleanup.Gap) error {
	n := 0
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, run := range chosen {
		for _, r := range run.Resources {
			if n++; n == 1 {
				fmt.Fprintln(t, "RUN\tKIND\tWHERE\tID\tSTATE\tEXPIRES")
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.RunID, r.Kind, where(r), r.ID, r.State, expiryWords(r.Expires, time.Now()))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(unknown) > 0 {
		printUnknown(w, unknown)
		return unclean(nil, unknown, nil)
	}
	fmt.Fprintf(w, "%s would be removed\n", plural(n, "resource"))
	return nil
}

// tellCleaned sums up what was there and what is left of it.
func tellCleaned(w io.Writer, chosen []cleanup.Run, out cleanup.Outcome, took time.Duration) error {
	n := 0
	for _, run := range chosen {
		n += len(run.Resources)
	}
	if n > 0 {
		printCleaned(w, chosen, out)
	}
	printLeft(w, out.Left)
	printUnknown(w, out.Unknown)
	if !out.Clean() {
		return unclean(out.Left, out.Unknown, out.Err)
	}
	switch {
	case n > 0:
		fmt.Fprintf(w, "\n%s of %s removed in %v: nothing is left\n", plural(n, "resource"), plural(len(chosen), "run"), took.Round(100*time.Millisecond))
	case len(chosen) == 1:
		fmt.Fprintf(w, "run %s: nothing is left\n", chosen[0].ID)
	default:
		fmt.Fprintln(w, "no such run has left anything")
	}
	return nil
}

// tellPause says why a clean-up takes longer.
func tellPause(w io.Writer) func(cleanup.Outcome, time.Duration) {
	return func(o cleanup.Outcome, pause time.Duration) {
		what := plural(len(o.Left), "resource") + " left"
		if len(o.Unknown) > 0 {
			gap := o.Unknown[0]
			what += fmt.Sprintf(", %s unknown (%v)", plural(len(o.Unknown), "place"), gap.Err)
		}
		fmt.Fprintf(w, "not clean yet: %s; looking again in %v\n", what, pause)
	}
}

// unclean is the error of a clean-up after which something may be left.
func unclean(left []providers.Resource, unknown []cleanup.Gap, cause error) error {
	var what []string
	if len(left) > 0 {
		what = append(what, plural(len(left), "resource")+" left")
	} else {
		cause = nil // it says what the table of the unknown says
	}
	if len(unknown) > 0 {
		what = append(what, plural(len(unknown), "place")+" unknown")
	}
	return &exitError{exitTeardown, errors.Join(fmt.Errorf("not clean: %s", strings.Join(what, ", ")), cause)}
}

// printCleaned counts what was found and what is left of it, by run, cloud and kind.
func printCleaned(w io.Writer, chosen []cleanup.Run, out cleanup.Outcome) {
	type group struct{ run, cloud, kind string }
	of := func(r providers.Resource) group { return group{r.RunID, r.Cloud, r.Kind} }
	left := map[group]int{}
	for _, r := range out.Left {
		left[of(r)]++
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tCLOUD\tKIND\tFOUND\tLEFT")
	for _, run := range chosen {
		found := map[group]int{}
		var groups []group
		for _, r := range run.Resources {
			if found[of(r)]++; found[of(r)] == 1 {
				groups = append(groups, of(r))
			}
		}
		for _, g := range groups {
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\n", g.run, g.cloud, g.kind, found[g], left[g])
		}
	}
	t.Flush()
}

// printUnknown lists where something may be that nobody could see.
func printUnknown(w io.Writer, unknown []cleanup.Gap) {
	if len(unknown) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nUNKNOWN\tWHY")
	for _, g := range unknown {
		fmt.Fprintf(t, "%s\t%s\n", place(g), strings.Join(strings.Fields(g.Err.Error()), " "))
	}
	t.Flush()
}

// printClosed says which regions were left out.
func printClosed(w io.Writer, closed []cleanup.Gap) {
	if len(closed) == 0 {
		return
	}
	var names []string
	for _, g := range closed {
		names = append(names, place(g))
	}
	fmt.Fprintf(w, "not looked into, since the account has not enabled or may not use them: %s\n", strings.Join(names, ", "))
}

// printRuns sums up runs, a line each.
func printRuns(w io.Writer, runs []cleanup.Run) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tIN THE CLOUDS\tEXPIRES")
	for _, r := range runs {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.ID, holdings(r.Resources), expiryWords(r.Expires, time.Now()))
	}
	t.Flush()
}

// holdings are resources in words: the machines, which cost, and the rest.
func holdings(resources []providers.Resource) string {
	machines := 0
	for _, r := range resources {
		if r.Kind == providers.Instance {
			machines++
		}
	}
	return fmt.Sprintf("%s, %s in all", plural(machines, "machine"), plural(len(resources), "resource"))
}

func where(r providers.Resource) string {
	if r.Region == "" {
		return r.Cloud
	}
	return r.Cloud + ":" + r.Region
}

func place(g cleanup.Gap) string {
	return where(providers.Resource{Cloud: g.Cloud, Region: g.Region})
}

// expiryWords says how far away an expiry is.
func expiryWords(at, now time.Time) string {
	switch d := at.Sub(now); {
	case at.IsZero():
		return "unknown"
	case d >= 0:
		return "in " + span(d)
	default:
		return span(-d) + " ago"
	}
}

// span is a time to the minute, or the second below one.
func span(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
