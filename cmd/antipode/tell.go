package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/charts"
	"github.com/antipode-bench/antipode/orchestrator"
	"github.com/antipode-bench/antipode/providers"
	"github.com/antipode-bench/antipode/results"
	"github.com/antipode-bench/antipode/units"
)

// tableRows is how many pairs are still worth a line each on a terminal.
const tableRows = 90

const chartsFolder = "charts"

// tell draws the charts and prints what was measured and where it is kept.
func tell(w io.Writer, dir string, s orchestrator.Summary) error {
	path, folder := filepath.Join(dir, "results.csv"), filepath.Join(dir, chartsFolder)
	file, err := results.ReadFile(path)
	if err != nil {
		return err
	}
	figures, drawn := drawCharts(folder, file.Rows)
	if err := printRows(w, file.Rows); err != nil {
		return errors.Join(err, drawn)
	}
	printBusy(w, file.Rows)
	printLost(w, s.Lost)
	printTotals(w, s)
	printLeft(w, s.Left)
	fmt.Fprintf(w, "\nresults  %s\n", path)
	if drawn == nil {
		fmt.Fprintf(w, "charts   %s (%s, SVG and PNG)\n", folder, plural(figures, "figure"))
	}
	return drawn
}

// drawCharts draws the rows and returns how many figures there are.
func drawCharts(dir string, rows []results.Row) (int, error) {
	figures := charts.Distance(rows)
	return len(figures), writeFigures(dir, figures)
}

// writeFigures writes every figure twice, as many at a time as there are CPUs.
func writeFigures(dir string, figures []charts.Figure) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, fig := range figures {
		for ext, draw := range map[string]func() ([]byte, error){".svg": fig.SVG, ".png": fig.PNG} {
			work.Go(func() error {
				data, err := draw()
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, fig.Name+ext), data, 0o644)
				}
				if err != nil {
					return fmt.Errorf("draw %s%s: %w", fig.Name, ext, err)
				}
				return nil
			})
		}
	}
	return work.Wait()
}

// printRows prints a line for each pair, or for each two clouds if that is too
// many.
func printRows(w io.Writer, rows []results.Row) error {
	if pairsOf(rows) <= tableRows {
		return results.Table(w, rows)
	}
	return printGroups(w, rows)
}

// pairsOf counts the directed pairs that rows are of.
func pairsOf(rows []results.Row) int {
	pairs := map[[4]string]bool{}
	for _, r := range rows {
		pairs[[4]string{r.FromCloud, r.FromRegion, r.ToCloud, r.ToRegion}] = true
	}
	return len(pairs)
}

// printGroups sums up a sweep too large for a line per pair.
func printGroups(w io.Writer, rows []results.Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CLOUDS\tPAIRS\tFAILED\tSKIPPED")
	for _, g := range analysis.Groups(rows) {
		count := map[string]int{}
		for _, r := range g.Rows {
			count[r.Status]++
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\n", g.Name, pairsOf(g.Rows), count[results.StatusFailed], count[results.StatusSkipped])
	}
	return t.Flush()
}

// printBusy says how many figures of a lab are not exact, because this computer
// was too busy.
func printBusy(w io.Writer, rows []results.Row) {
	n := 0
	for _, r := range rows {
		if r.HasFlag(results.FlagLabBusy) {
			n++
		}
	}
	if n > 0 {
		fmt.Fprintf(w, "\nthis computer was too busy for the lab to be exact in %s (%s): measure again when it is quieter\n",
			plural(n, "row"), results.FlagLabBusy)
	}
}

// printLost lists the regions without a machine, or whose machine failed.
func printLost(w io.Writer, regions []orchestrator.Lost) {
	if len(regions) > 0 {
		fmt.Fprintln(w)
	}
	for _, l := range regions {
		what := "failed"
		if l.Skipped {
			what = "skipped"
		}
		fmt.Fprintf(w, "region %s %s: %s\n", l.Region, what, l.Reason)
	}
}

func printTotals(w io.Writer, s orchestrator.Summary) {
	what := plural(s.Pairs, "pair")
	if s.Rows > s.Pairs {
		what += ", " + plural(s.Rows, "row")
	}
	fmt.Fprintf(w, "\n%s: %d ok, %d failed, %d skipped; %s moved\n", what, s.OK, s.Failed, s.Skipped, units.Bytes(float64(s.Bytes)))
	if s.Makespan > 0 {
		fmt.Fprintf(w, "measured in %v (no order could take less than %v: %.2f times that)\n",
			s.Makespan.Round(100*time.Millisecond), s.Bound.Round(100*time.Millisecond), s.Makespan.Seconds()/s.Bound.Seconds())
	}
	printUsed(w, s)
	if len(s.Left) == 0 && s.Teardown == nil {
		fmt.Fprintf(w, "everything is torn down: nothing is left\n")
	}
}

// printUsed says what was used of the clouds, beside what was estimated.
func printUsed(w io.Writer, s orchestrator.Summary) {
	u := s.Used
	fmt.Fprintf(w, "used %.2f machine hours, %s sent with headers, repeats and acknowledgements", u.MachineHours, units.Bytes(u.Bytes))
	if u.BytesAssumed > 0 {
		fmt.Fprintf(w, " (%s of them at most, by tests without a count)", units.Bytes(u.BytesAssumed))
	}
	fmt.Fprintf(w, "\n  %s, by the table of prices\n", costWords(u.USD, u.Parts))
	if e := s.Estimate; e != nil {
		fmt.Fprintf(w, "  estimated were %v of tests, %s, %s USD\n", seconds(e.ExpectedS), units.Bytes(e.Bytes), usd(e.USD))
	}
}

// printLeft lists what is still in a cloud.
func printLeft(w io.Writer, left []providers.Resource) {
	if len(left) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nLEFT BEHIND\tCLOUD\tREGION\tID\tSTATE\tRUN")
	for _, r := range left {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Kind, r.Cloud, cmp.Or(r.Region, "global"), r.ID, r.State, r.RunID)
	}
	t.Flush()
}
