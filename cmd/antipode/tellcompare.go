package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/units"
)

func compareFormats() []string { return []string{"table", "markdown", "csv", "json"} }

func printComparison(w io.Writer, c *analysis.Comparison, format string) error {
	switch format {
	case "json":
		return printJSON(w, c)
	case "csv":
		return printCompareCSV(w, c)
	case "markdown":
		return printCompareMarkdown(w, c)
	}
	return printCompareTable(w, c)
}

// compareHead are the columns for people. The title says what is the base.
func compareHead() []string {
	return []string{"FROM", "TO", "BASE", "OTHER", "RATIO", "95 % INTERVAL", "P", "N", "VERDICT"}
}

func compareCells(m analysis.MetricComparison, p analysis.PairComparison) []string {
	figure := units.Rate
	if m.Metric == analysis.MetricRTT {
		figure = units.Milliseconds
	}
	interval := "-"
	if p.Low != nil && p.High != nil {
		interval = fmt.Sprintf("%.3f to %.3f", *p.Low, *p.High)
	}
	return []string{p.From, p.To, figure(p.BaseMedian), figure(p.OtherMedian), fmt.Sprintf("%.3f", p.Ratio), interval,
		fmt.Sprintf("%.3f", p.PAdjusted), fmt.Sprintf("%d+%d", p.BaseN, p.OtherN), p.Verdict}
}

func compareTitle(c *analysis.Comparison, m analysis.MetricComparison) string {
	what := "Goodput"
	if m.Metric == analysis.MetricRTT {
		what = "RTT"
	}
	return fmt.Sprintf("%s, %s against %s (base)", what, c.Sides[m.Other].Name, c.Sides[m.Base].Name)
}

func printCompareTable(w io.Writer, c *analysis.Comparison) error {
	for _, m := range c.Metrics {
		if len(m.Pairs) > 0 {
			fmt.Fprintf(w, "%s\n", compareTitle(c, m))
			t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, strings.Join(compareHead(), "\t"))
			for _, p := range m.Pairs {
				fmt.Fprintln(t, strings.Join(compareCells(m, p), "\t"))
			}
			if err := t.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(w)
		}
	}
	printUnmatched(w, c, "")
	for _, s := range c.Sentences {
		fmt.Fprintln(w, s)
	}
	return nil
}

// printUnmatched lists the pairs that only one side has, once for all metrics
// where they are the same.
func printUnmatched(w io.Writer, c *analysis.Comparison, bullet string) {
	var said string
	for _, m := range c.Metrics {
		var b strings.Builder
		for _, side := range []struct {
			name  string
			pairs []string
		}{{c.Sides[m.Base].Name, m.OnlyBase}, {c.Sides[m.Other].Name, m.OnlyOther}} {
			if len(side.pairs) > 0 {
				fmt.Fprintf(&b, "%sonly in %s: %s\n", bullet, side.name, strings.Join(side.pairs, ", "))
			}
		}
		if text := b.String(); text != "" && text != said {
			said = text
			fmt.Fprintln(w, text)
		}
	}
}

func printCompareMarkdown(w io.Writer, c *analysis.Comparison) error {
	for _, s := range c.Sentences {
		fmt.Fprintf(w, "* %s\n", s)
	}
	fmt.Fprintln(w)
	for _, m := range c.Metrics {
		if len(m.Pairs) == 0 {
			continue
		}
		fmt.Fprintf(w, "### %s\n\n", compareTitle(c, m))
		head := compareHead()
		fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(escaped(head), " | "), strings.Repeat("---|", len(head)))
		for _, p := range m.Pairs {
			fmt.Fprintf(w, "| %s |\n", strings.Join(escaped(compareCells(m, p)), " | "))
		}
		fmt.Fprintln(w)
	}
	printUnmatched(w, c, "* ")
	return nil
}

// escaped keeps names from ending a cell.
func escaped(cells []string) []string {
	var safe []string
	for _, cell := range cells {
		safe = append(safe, strings.ReplaceAll(cell, "|", `\|`))
	}
	return safe
}

func printCompareCSV(w io.Writer, c *analysis.Comparison) error {
	lines := csv.NewWriter(w)
	head := []string{"metric", "base", "other", "from", "to", "base_median", "other_median", "ratio", "ratio_low", "ratio_high", "p", "p_adjusted", "base_n", "other_n", "verdict"}
	_ = lines.Write(head) // Flush tells
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	bound := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	for _, m := range c.Metrics {
		sides := []string{m.Metric, c.Sides[m.Base].Name, c.Sides[m.Other].Name}
		for _, p := range m.Pairs {
			_ = lines.Write(append(sides, p.From, p.To, number(p.BaseMedian), number(p.OtherMedian), number(p.Ratio), bound(p.Low), bound(p.High),
				number(p.P), number(p.PAdjusted), strconv.Itoa(p.BaseN), strconv.Itoa(p.OtherN), p.Verdict))
		}
		for _, pair := range m.OnlyBase {
			_ = lines.Write(unmatchedLine(sides, pair, "only in base"))
		}
		for _, pair := range m.OnlyOther {
			_ = lines.Write(unmatchedLine(sides, pair, "only in other"))
		}
	}
	lines.Flush()
	return lines.Error()
}

func unmatchedLine(sides []string, pair, verdict string) []string {
	from, to, _ := strings.Cut(pair, " to ")
	return append(append([]string{}, sides...), from, to, "", "", "", "", "", "", "", "", "", verdict)
}
