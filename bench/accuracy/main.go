//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"time"

	"github.com/spf13/pflag"

	"github.com/antipode-bench/antipode/lab"
)

// options of a run.
type options struct {
	results  string
	replay   string
	only     string
	paths    int
	seed     uint64
	draw     bool
	budget   float64 // bit/s
	probes   int
	udp      time.Duration
	duration time.Duration
	eased    time.Duration
	ten      bool
	probe    string
	machine  string
	markdown bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == lab.InnerCommand {
		os.Exit(lab.InnerMain(os.Args[2:]))
	}
	var o options
	var budgetMbps float64
	pflag.StringVar(&o.results, "results", "runs/accuracy", "`DIR` for what was measured; what is there already is not measured again")
	pflag.StringVar(&o.replay, "replay", "", "measure nothing: judge what is in `DIR`")
	pflag.StringVar(&o.only, "only", "", "only paths whose name matches the `REGEXP`")
	pflag.IntVar(&o.paths, "paths", 0, "only the first `N` paths of each set; 0 is all")
	pflag.Uint64Var(&o.seed, "seed", 0, "draw other paths than those of paths.csv, by other seeds")
	pflag.BoolVar(&o.draw, "draw", false, "print the paths and end")
	pflag.Float64Var(&budgetMbps, "budget", 2000, "measure as many paths at a time as have so many `Mbit/s` together")
	pflag.IntVar(&o.probes, "rtt-probes", 200, "`N` probes for the round-trip time, 5 ms apart")
	pflag.DurationVar(&o.udp, "udp-duration", 2*time.Second, "length of the UDP test")
	pflag.DurationVar(&o.duration, "duration", 32*time.Second, "length of the long test")
	pflag.DurationVar(&o.eased, "eased-duration", 12*time.Second, "longest test with a constraint eased; 0 for none")
	pflag.BoolVar(&o.ten, "ten", false, "another test of ten seconds with every sample, for -replay to play the probe's rule on")
	pflag.StringVar(&o.probe, "probe", "bin/antipode-probe", "the probe")
	pflag.StringVar(&o.machine, "machine", "bin/antipode-machine", "what runs a machine of the lab")
	pflag.BoolVar(&o.markdown, "markdown", false, "print the tables as in docs/benchmarks.md")
	pflag.Parse()
	o.budget = budgetMbps * 1e6
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	paths, err := o.choose()
	if err != nil {
		return err
	}
	if o.draw {
		data, err := marshalPaths(paths)
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(data)
		return err
	}
	dir := o.replay
	if dir == "" {
		dir = o.results
		if err := measureAll(ctx, o, paths); err != nil {
			return err
		}
	}
	records, err := readRecords(dir, paths)
	if err != nil {
		return err
	}
	return printReport(os.Stdout, records, o.markdown)
}

// choose returns the paths that are wanted.
func (o options) choose() ([]Path, error) {
	all := drawAll(o.seed)
	if o.seed == 0 && !o.draw {
		var err error
		if all, err = readPaths(pathsFile); err != nil {
			return nil, err
		}
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("--only: %w", err)
	}
	var paths []Path
	taken := map[string]int{}
	for _, p := range all {
		if !only.MatchString(p.Name) || o.paths > 0 && taken[p.Set] == o.paths {
			continue
		}
		taken[p.Set]++
		paths = append(paths, p)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no path matches --only %q", o.only)
	}
	return paths, nil
}
