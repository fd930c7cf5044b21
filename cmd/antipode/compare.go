package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/charts"
	"github.com/antipode-bench/antipode/results"
)

type compareFlags struct {
	inputFlags
	by      string
	metric  string
	format  string
	out     string
	atLeast percent
	failOn  percent
	seed    uint64
}

func newCompare() *cobra.Command {
	f := compareFlags{metric: "both", format: "table", atLeast: 0.05, seed: 1}
	cmd := &cobra.Command{
		Use:   "compare A B [C...]",
		Short: "Compare files, runs, or slices of them, pair by pair",
		Long: `Compare holds each of B, C and so on against A: for every pair that both have, the ratio of
the medians with its 95 % interval, and whether the repetitions differ (Mann-Whitney's test,
corrected for the number of pairs). Regressions come first, then improvements. The unit is
the row, a repetition: where a pair has too few of them, that is what it says.
With --by it compares slices of all files given with each other instead, the first of which
by name is what the others are held against.

` + inputsHelp,
		Example: `  antipode compare before.csv after.csv
  antipode compare 20261101t080000z-aaaa 20261201t080000z-bbbb --fail-on-regression 10%
  antipode compare runs --by machine --metric goodput --format markdown`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return compare(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, &f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.by, "by", "", "compare slices by `WHAT`: "+strings.Join(slicings(), ", "))
	flags.StringVar(&f.metric, "metric", f.metric, "`WHAT` is compared: goodput, rtt or both")
	flags.Var(&f.atLeast, "at-least", "report changes of this `SHARE` or more")
	flags.Var(&f.failOn, "fail-on-regression", "exit with 6 if a pair got worse by this `SHARE` or more, such as 10%")
	flags.StringVar(&f.format, "format", f.format, "`FORMAT` to print: "+strings.Join(compareFormats(), ", "))
	flags.StringVar(&f.out, "out", "", "write table, Markdown, CSV, JSON and charts into this `FOLDER` too")
	f.inputFlags.register(flags)
	flags.Uint64Var(&f.seed, "seed", f.seed, "`NUMBER` that the intervals' random draws begin with")
	return cmd
}

// slicings are what rows can be sliced by.
func slicings() []string {
	return []string{"cloud-pair", "machine", "network-tier", "congestion-control"}
}

// sliceOf is the slice of a row; empty for a row that is in none.
func sliceOf(by string, r results.Row) string {
	switch by {
	case "cloud-pair":
		return analysis.GroupOf(r)
	case "machine":
		return strings.Trim(r.FromMachine+">"+r.ToMachine, ">")
	case "network-tier":
		return r.NetworkTier
	}
	return r.CongestionControl
}

func compareMetrics() map[string][]string {
	return map[string][]string{
		"goodput": {analysis.MetricGoodput},
		"rtt":     {analysis.MetricRTT},
		"both":    {analysis.MetricGoodput, analysis.MetricRTT},
	}
}

func (f *compareFlags) check(files []string) error {
	if f.by != "" && !slices.Contains(slicings(), f.by) {
		return usageError("--by: %q is not one of %s", f.by, strings.Join(slicings(), ", "))
	}
	if f.by == "" && len(files) < 2 {
		return usageError("name two files or runs to compare, or slice one with --by")
	}
	if compareMetrics()[f.metric] == nil {
		return usageError("--metric: %q is not goodput, rtt or both", f.metric)
	}
	if !slices.Contains(compareFormats(), f.format) {
		return usageError("--format: %q is not one of %s", f.format, strings.Join(compareFormats(), ", "))
	}
	if twice := repeated(files); f.by == "" && twice != "" {
		return usageError("%q is there twice", twice)
	}
	return nil
}

func repeated(names []string) string {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return name
		}
	}
	return ""
}

func compare(stdout, stderr io.Writer, files []string, f *compareFlags) error {
	if err := f.check(files); err != nil {
		return err
	}
	data, err := f.sides(files)
	if err != nil {
		return err
	}
	tellBad(stderr, data.Bad, data.BadRows)
	if len(data.Sides) < 2 {
		return usageError("--by %s: the rows are all of one slice; there is nothing to compare", f.by)
	}
	c := analysis.Compare(data, analysis.CompareOptions{
		Metrics: compareMetrics()[f.metric], AtLeast: float64(f.atLeast), ByPlace: f.by == "cloud-pair", Seed: f.seed,
	})
	if err := printComparison(stdout, c, f.format); err != nil {
		return err
	}
	if f.out != "" {
		if err := writeComparison(f.out, c); err != nil {
			return err
		}
	}
	return f.verdict(c)
}

// sides reads every file, each a side of its own or sliced.
func (f *compareFlags) sides(files []string) (*analysis.Data, error) {
	c, err := f.collector()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		sink := &sideSink{Collector: c}
		if f.by == "" {
			c.SetSide(file)
		} else {
			sink.by = f.by
		}
		if err := f.read(file, sink); err != nil {
			return nil, err
		}
	}
	if f.by != "" {
		c.SortSides()
	}
	return c.Data(), nil
}

// sideSink puts each row on its side.
type sideSink struct {
	*analysis.Collector
	by string // empty: the side is set
}

// Add leaves out what is in no slice.
func (s *sideSink) Add(r results.Row) {
	if s.by != "" {
		slice := sliceOf(s.by, r)
		if slice == "" {
			return
		}
		s.SetSide(slice)
	}
	s.Collector.Add(r)
}

// verdict is an error that exits with 6 if something got worse by too much.
func (f *compareFlags) verdict(c *analysis.Comparison) error {
	if f.failOn == 0 {
		return nil
	}
	n := 0
	for _, m := range c.Metrics {
		for _, p := range m.Pairs {
			if p.Verdict == analysis.Regression && p.Worse(m.Metric) >= float64(f.failOn) {
				n++
			}
		}
	}
	if n == 0 {
		return nil
	}
	return &exitError{exitRegression, fmt.Errorf("%s of %s or more (--fail-on-regression)", plural(n, "regression"), f.failOn.String())}
}

// writeComparison puts every format into the folder, and the charts.
func writeComparison(dir string, c *analysis.Comparison) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usageError("--out: %w", err)
	}
	for format, name := range map[string]string{"table": "compare.txt", "markdown": "compare.md", "csv": "compare.csv", "json": "compare.json"} {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := errors.Join(printComparison(file, c, format), file.Close()); err != nil {
			return err
		}
	}
	return writeFigures(filepath.Join(dir, chartsFolder), charts.Comparison(c))
}
