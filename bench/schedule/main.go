package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/antipode-bench/antipode/orchestrator/plan"
)

func main() {
	seeds := flag.Int("seeds", 20, "how often each is run, with other lengths")
	flag.Parse()
	if over := bench(os.Stdout, []int{10, 46, 77, 200}, *seeds); over > 0 {
		fmt.Fprintf(os.Stderr, "%d rows are over their limit\n", over)
		os.Exit(1)
	}
}

// bench prints a row for each kind of lengths, number of regions and isolation,
// and returns how many are over their limit.
func bench(w io.Writer, sizes []int, seeds int) (over int) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "lengths\tregions\tpairs\tisolation\torder\tmedian\tworst\tlimit\tconflicts\ta queue\tto plan\t\n")
	for _, kind := range kinds() {
		for _, n := range sizes {
			for _, isolation := range []plan.Isolation{plan.Duplex, plan.Host} {
				r := measure(kind, n, isolation, seeds)
				verdict := ""
				if r.over() {
					verdict = "OVER"
					over++
				}
				fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%.3f\t%.3f\t%s\t%d\t%.2f\t%v\t%s\n", kind.name, n, n*(n-1), isolation, kind.order,
					r.median(), r.worst(), r.limit(), r.conflicts, median(r.queue), r.spent.Round(time.Millisecond), verdict)
			}
		}
	}
	table.Flush()
	fmt.Fprintln(w, "Makespan over the bound, of "+fmt.Sprint(seeds)+" seeds. The bound is the busiest machine's total, round trips and the busier kind of")
	fmt.Fprintln(w, "test; with isolation host also all work over half of the machines. To plan: real time of a whole schedule.")
	return over
}

// row is what all seeds of a case brought, over the bound.
type row struct {
	kind      lengths
	regions   int
	ratios    []float64
	queue     []float64 // of the simple queue, median
	conflicts int
	spent     time.Duration // real time of the slowest schedule
}

func measure(kind lengths, n int, isolation plan.Isolation, seeds int) row {
	r := row{kind: kind, regions: n}
	pairs := everyPair(n)
	tasks := plan.Tasks(pairs, plan.Duplex)
	for seed := range uint64(seeds) {
		took := kind.of(tasks, seed)
		bound := float64(plan.Bound(timed(tasks, took), isolation))
		began := time.Now()
		makespan, conflicts := play(pairs, isolation, kind.order, took)
		r.spent = max(r.spent, time.Since(began))
		r.conflicts += conflicts
		r.ratios = append(r.ratios, float64(makespan)/bound)
		r.queue = append(r.queue, float64(simple(tasks, n, took))/bound)
	}
	return r
}

// simple is the makespan of the simple queue. Each direction measures the round
// trip of its own.
func simple(tasks []plan.Task, n int, took map[plan.Task]time.Duration) time.Duration {
	rtts := map[[2]string]time.Duration{}
	var tests []plan.Task
	for _, t := range tasks {
		if t.Kind == plan.RTT {
			rtts[[2]string{t.From, t.To}], rtts[[2]string{t.To, t.From}] = took[t], took[t]
		} else {
			tests = append(tests, t)
		}
	}
	return playQueue(tests, n, func(t plan.Task) time.Duration { return took[t] + rtts[[2]string{t.From, t.To}] })
}

func timed(tasks []plan.Task, took map[plan.Task]time.Duration) (all []plan.Timed) {
	for _, t := range tasks {
		all = append(all, plan.Timed{Task: t, Took: took[t]})
	}
	return all
}

// The limits: of a few regions the median, which luck spreads widely, of more the
// worst.
const (
	many       = 46
	limitOfFew = 1.05
)

func (r row) over() bool {
	if r.regions < many {
		return r.conflicts > 0 || r.median() > limitOfFew
	}
	return r.conflicts > 0 || r.worst() > r.kind.worst
}

func (r row) limit() string {
	if r.regions < many {
		return fmt.Sprintf("median %.2f", limitOfFew)
	}
	return fmt.Sprintf("worst %.2f", r.kind.worst)
}

func (r row) median() float64 { return median(r.ratios) }

func (r row) worst() float64 { return slices.Max(r.ratios) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
