//go:build linux

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/antipode-bench/antipode/probe/trace"
)

// sheet writes tables, for people or as Markdown.
type sheet struct {
	out      io.Writer
	markdown bool
}

func (s sheet) table(title string, rows [][]string) error {
	fmt.Fprintf(s.out, "\n%s\n\n", title)
	if s.markdown {
		for i, row := range rows {
			fmt.Fprintf(s.out, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				fmt.Fprintf(s.out, "|%s\n", strings.Repeat("---|", len(row)))
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// printReport writes every table, of each set of paths by itself. Tests that were
// disturbed are left out.
func printReport(out io.Writer, records []*record, markdown bool) error {
	s := sheet{out, markdown}
	var ordinary, buckets []*record
	bySet := map[string][]*record{}
	disturbed := 0
	for _, r := range records {
		r, n := r.exactOnly()
		disturbed += n
		bySet[r.Path.Set] = append(bySet[r.Path.Set], r)
		if r.Path.Set == setBucket {
			buckets = append(buckets, r)
		} else {
			ordinary = append(ordinary, r)
		}
	}
	fmt.Fprintf(out, "%d tests were disturbed because the computer was too busy, and are left out.\n", disturbed)
	groups := []group{{"all", ordinary}, {setTuning, bySet[setTuning]}, {setUnseen, bySet[setUnseen]},
		{"cubic", under(ordinary, "cubic")}, {"bbr", under(ordinary, "bbr")}}
	for _, part := range []func(sheet, []group) error{accuracyTable, limitTable, stopTable} {
		if err := part(s, groups); err != nil {
			return err
		}
	}
	if len(buckets) > 0 {
		if err := bucketTable(s, buckets); err != nil {
			return err
		}
	}
	if markdown {
		return nil
	}
	return missTable(s, ordinary)
}

// group is a set of paths, or all of them.
type group struct {
	name    string
	records []*record
}

// under are the records of paths with a congestion control.
func under(records []*record, congestion string) (some []*record) {
	for _, r := range records {
		if r.Path.Congestion == congestion {
			some = append(some, r)
		}
	}
	return some
}

func long(r *record) *transfer     { return r.Long }
func adaptive(r *record) *transfer { return r.Adaptive }
func longSays(r *record) string    { return r.Long.limitedBy() }

func accuracyTable(s sheet, groups []group) error {
	rows := [][]string{{"paths", "n", "RTT error p50", "p99", "steady goodput error p50", "p95", "the same, adaptive p50", "p95",
		"UDP loss equal", "reordering", "duplicates", "off by at most"}}
	for _, g := range groups {
		rtt, l, a, udp := rttErrorsMs(g.records), steadyErrors(g.records, long), steadyErrors(g.records, adaptive), tallyDatagrams(g.records)
		of := func(n int) string { return fmt.Sprintf("%d of %d", n, udp.tests) }
		rows = append(rows, []string{g.name, fmt.Sprint(len(g.records)),
			milliseconds(quantile(rtt, 0.5)), milliseconds(quantile(rtt, 0.99)),
			percent(quantile(l, 0.5)), percent(quantile(l, 0.95)), percent(quantile(a, 0.5)), percent(quantile(a, 0.95)),
			of(udp.lost), of(udp.reordered), of(udp.duplicated), fmt.Sprint(udp.worst)})
	}
	return s.table("Against the router's truth", rows)
}

func limitTable(s sheet, groups []group) error {
	rows := [][]string{{"paths", "test", "n", "limited_by right", "taking flow-cap for rate-cap"}}
	for _, g := range groups {
		for _, test := range []struct {
			name   string
			saying func(*record) string
		}{{"long", longSays}, {"adaptive", func(r *record) string { return r.Adaptive.limitedBy() }},
			{"long, judged again", func(r *record) string { return r.Long.limitAgain() }},
			{"adaptive, judged again", func(r *record) string { return r.Adaptive.limitAgain() }}} {
			list := verdicts(g.records, test.saying)
			right, alike := 0, 0
			for _, v := range list {
				right += oneIf(v.right)
				alike += oneIf(v.alike)
			}
			n := float64(len(list))
			rows = append(rows, []string{g.name, test.name, fmt.Sprint(len(list)), percent(share(float64(right), n)), percent(share(float64(alike), n))})
		}
	}
	return s.table("What limited it", rows)
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func stopTable(s sheet, groups []group) error {
	rows := [][]string{{"paths", "rule", "n", "bytes", "below 100 ms, steady", "error p50", "p95", "unflagged", "of them within 10 %"}}
	for _, g := range groups {
		results := []stopping{judgeProbe(g.records), judgeChecked(g.records)}
		if again := judge(g.records, "the probe's rule, played again", (*record).ruleAgain); len(again.errors) > 0 {
			results = append(results, again)
		}
		for _, r := range rules {
			results = append(results, judgeRule(g.records, r))
		}
		for _, r := range results {
			unflagged := percent(share(float64(len(r.unflagged)), float64(len(r.errors))))
			rows = append(rows, []string{g.name, r.name, fmt.Sprint(len(r.errors)), percent(r.bytes), percent(r.nearBytes),
				percent(quantile(r.errors, 0.5)), percent(quantile(r.errors, 0.95)), unflagged, percent(within(r.unflagged, 0.1))})
		}
	}
	return s.table("Stopping early: bytes are of a ten-second test's, errors against the long one", rows)
}

func bucketTable(s sheet, records []*record) error {
	rows := [][]string{{"token bucket", "baseline", "adaptive test says", "long test's", "flags"}}
	n, flagged := 0, 0
	for _, r := range records {
		if r.Adaptive == nil || r.Adaptive.Result == nil {
			continue
		}
		n++
		flagged += oneIf(slices.Contains(r.Adaptive.Result.Flags, trace.FlagBurst))
		longRate := math.NaN()
		if r.Long != nil {
			longRate = reference(r.Long.Carried)
		}
		rows = append(rows, []string{r.Path.Name, mbps(r.Path.BaselineBps), mbps(r.Adaptive.Result.GoodputBps), mbps(longRate),
			strings.Join(r.Adaptive.Result.Flags, " ")})
	}
	return s.table(fmt.Sprintf("Token buckets, Mbit/s: %d of %d flagged as a burst", flagged, n), rows)
}

// missTable names every wrong limited_by, and what failed. Of unseen paths it
// names none: who looks at them tunes on them.
func missTable(s sheet, records []*record) error {
	rows := [][]string{{"wrong", "of", "says", "true causes", "evidence"}}
	for _, test := range []struct {
		name string
		of   func(*record) *transfer
	}{{"long", long}, {"adaptive", adaptive}} {
		for _, v := range verdicts(records, func(r *record) string { return test.of(r).limitedBy() }) {
			if !v.right && v.record.Path.Set != setUnseen {
				rows = append(rows, []string{v.record.Path.Name, v.record.Path.Congestion + " " + test.name, v.said,
					strings.Join(v.causes, " "), test.of(v.record).Result.LimitedByEvidence})
			}
		}
	}
	for _, r := range records {
		for step, why := range r.Failed {
			rows = append(rows, []string{r.Path.Name, step, "failed", why})
		}
	}
	return s.table("What went wrong", rows)
}

func percent(ratio float64) string {
	if math.IsNaN(ratio) {
		return "-"
	}
	return fmt.Sprintf("%.3g %%", 100*ratio)
}

func milliseconds(ms float64) string {
	if math.IsNaN(ms) {
		return "-"
	}
	return fmt.Sprintf("%.3f ms", ms)
}

func mbps(bps float64) string {
	if math.IsNaN(bps) {
		return "-"
	}
	return fmt.Sprintf("%.1f", bps/1e6)
}
