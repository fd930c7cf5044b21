package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/antipode-bench/antipode/analysis"
	"github.com/antipode-bench/antipode/results"
)

// world has three regions whose six ways have a rate of their own each.
//
//go:embed world.yaml
var world []byte

const (
	regions = "aws:us-east-1,gcp:us-east4,gcp:europe-west1"
	pairs   = 6
	limit   = "10%"
	reached = 6 // the exit code of a regression that large
)

func main() {
	comparisons := flag.Int("comparisons", 10, "how many, of one sweep more")
	repeat := flag.Int("repeat", 8, "repetitions of each pair in a sweep")
	duration := flag.Duration("duration", time.Second, "length of a throughput test")
	binary := flag.String("antipode", "bin/antipode", "the command")
	flag.Parse()
	failed, err := bench(*binary, *comparisons, *repeat, *duration)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/equal:", err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

// bench sweeps and compares, prints what came of it, and returns how many of the
// comparisons failed.
func bench(binary string, comparisons, repeat int, duration time.Duration) (failed int, err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "antipode-bench-equal-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "world.yaml"), world, 0o644); err != nil {
		return 0, err
	}
	b := bed{binary, dir, repeat, duration}
	before, err := b.sweep(0)
	if err != nil {
		return 0, err
	}
	var all tally
	for n := 1; n <= comparisons; n++ {
		after, err := b.sweep(n)
		if err != nil {
			return all.failed, err
		}
		if err := b.compare(&all, n, before, after); err != nil {
			return all.failed, err
		}
		before = after
	}
	fmt.Println(all.line(comparisons))
	return all.failed, nil
}

// bed is where and how it is swept.
type bed struct {
	binary, dir string
	repeat      int
	duration    time.Duration
}

func (b bed) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.binary, args...)
	cmd.Dir = b.dir
	return cmd
}

// sweep returns the file of results of one sweep.
func (b bed) sweep(n int) (file string, err error) {
	out := "sweep-" + strconv.Itoa(n)
	began := time.Now()
	said, err := b.command("sweep", "--lab", "--world", "world.yaml", "--regions", regions, "--repeat", strconv.Itoa(b.repeat),
		"--duration", b.duration.String(), "--stop", "duration", "--rtt-probes", "20", "--rtt-interval", "5ms", "--yes", "--out", out).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("sweep %d: %w\n%s", n, err, said)
	}
	found, err := filepath.Glob(filepath.Join(b.dir, out, "*", "results.csv"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("sweep %d: %d runs, %w", n, len(found), err)
	}
	f, err := results.ReadFile(found[0])
	if err != nil {
		return "", err
	}
	busy := 0
	for _, r := range f.Rows {
		if r.HasFlag(results.FlagLabBusy) {
			busy++
		}
	}
	if want := pairs * b.repeat; len(f.Rows) != want {
		return "", fmt.Errorf("sweep %d: %d rows, want %d", n, len(f.Rows), want)
	}
	fmt.Printf("sweep %2d: %d rows in %v, %d of them flagged %s\n", n, len(f.Rows), time.Since(began).Round(time.Second), busy, results.FlagLabBusy)
	return found[0], nil
}

// tally counts comparisons.
type tally struct {
	changed int     // that reported any change, for better or worse
	failed  int     // that reported a regression of the limit or more
	tests   int     // of a pair and metric
	widest  float64 // ratio of medians, of all pairs and metrics: the farthest from 1, as one above it
}

// compare compares two sweeps and says what is reported.
func (b bed) compare(all *tally, n int, before, after string) error {
	out, err := b.command("compare", before, after, "--format", "json", "--fail-on-regression", limit).Output()
	var exit *exec.ExitError
	failed := errors.As(err, &exit) && exit.ExitCode() == reached
	if err != nil && !failed {
		return fmt.Errorf("compare %d: %w\n%s", n, err, out)
	}
	var c analysis.Comparison
	if err := json.Unmarshal(out, &c); err != nil {
		return fmt.Errorf("compare %d: %w", n, err)
	}
	fmt.Printf("comparison %2d: %s\n", n, all.add(&c, failed))
	return nil
}

// add counts a comparison and says what it reports.
func (t *tally) add(c *analysis.Comparison, failed bool) (line string) {
	widest, found := 1.0, ""
	for _, m := range c.Metrics {
		for _, p := range m.Pairs {
			t.tests++
			widest = max(widest, math.Exp(math.Abs(math.Log(p.Ratio))))
			if p.Verdict == analysis.Regression || p.Verdict == analysis.Improvement {
				found += fmt.Sprintf("; %s of %s>%s: %s, %.3f times", m.Metric, p.From, p.To, p.Verdict, p.Ratio)
			}
		}
	}
	t.widest = max(t.widest, widest)
	if found != "" {
		t.changed++
	}
	if failed {
		t.failed++
		found += "; FAILED"
	}
	return fmt.Sprintf("medians apart by %.1f %% at most%s", 100*(widest-1), found)
}

func (t tally) line(comparisons int) string {
	return fmt.Sprintf("%d comparisons of equal worlds, %d of a pair and metric: %d reported a change (5 %% or more), %d a regression of %s or more; medians apart by %.1f %% at most",
		comparisons, t.tests, t.changed, t.failed, limit, 100*(t.widest-1))
}
