package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/charts"
	"github.com/antipode-bench/antipode/page"
)

type reportFlags struct {
	inputFlags
	out  string
	json bool
	seed uint64
}

func newReport() *cobra.Command {
	f := reportFlags{seed: 1}
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Say what results hold: statistics, checks against physics, charts",
		Long: `Report works out what measured rows say: how RTT and goodput go with distance, for all
pairs and for each two clouds, with intervals that allow for rows that share a region; RTT
over light's own time in fibre; which rows contradict physics, their way back or what a
machine is sold with; and which regions can't be where they are said to be.
It prints sentences, or all findings as JSON with --json. With --out it writes charts,
report.json and report.html into a folder; the latter is one file to explore them in, without
a network.

` + inputsHelp + `
Lines that can't be read are listed and counted, and don't stop it.`,
		Example: `  antipode report runs/20261130t172233z-ab12 --out review
  antipode report results_202202.csv --locations locations.csv --json`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return report(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, &f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.out, "out", "", "write the charts, report.json and report.html into this `FOLDER`")
	flags.BoolVar(&f.json, "json", false, "print the findings as JSON")
	f.inputFlags.register(flags)
	flags.Uint64Var(&f.seed, "seed", f.seed, "`NUMBER` that the intervals' random draws begin with")
	return cmd
}

func report(stdout, stderr io.Writer, files []string, f *reportFlags) error {
	data, err := f.collect(files)
	if err != nil {
		return err
	}
	tellBad(stderr, data.Bad, data.BadRows)
	if len(data.Obs) == 0 {
		return &exitError{exitUsage, errNoRows}
	}
	r := analysis.NewReport(data, f.seed)
	if f.out != "" {
		if err := writeReport(f.out, data, r); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(stdout, r)
	}
	for _, s := range r.Sentences {
		fmt.Fprintln(stdout, s)
	}
	if f.out != "" {
		fmt.Fprintf(stdout, "\nreport  %s\n", f.out)
	}
	return nil
}

// collect reads every file.
func (f *inputFlags) collect(files []string) (*analysis.Data, error) {
	c, err := f.collector()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := f.read(file, c); err != nil {
			return nil, err
		}
	}
	return c.Data(), nil
}

// writeReport fills the folder.
func writeReport(dir string, data *analysis.Data, r *analysis.Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usageError("--out: %w", err)
	}
	if err := writeFigures(filepath.Join(dir, chartsFolder), charts.All(data, r)); err != nil {
		return err
	}
	if err := create(filepath.Join(dir, "report.json"), func(w io.Writer) error { return printJSON(w, r) }); err != nil {
		return err
	}
	in := page.Input{Title: pageTitle(data), Version: version, Data: data, Report: r}
	return create(filepath.Join(dir, "report.html"), func(w io.Writer) error { return page.Write(w, in) })
}

// pageTitle names what the rows are from.
func pageTitle(data *analysis.Data) string {
	var names []string
	for _, s := range data.Sources {
		names = append(names, strings.TrimSuffix(filepath.Base(s.Name), "/"))
	}
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:2], ", "), len(names)-2)
	}
	return strings.Join(names, ", ")
}

// create writes a file and closes it.
func create(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := write(file); err != nil {
		return err
	}
	return file.Close()
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
