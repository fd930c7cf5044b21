// Command report measures what `antipode report` takes for a million rows: time
// and memory, of the command itself, from the file to statistics and charts.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// What a report of a million rows may take.
const (
	mostTime = 10 * time.Second
	mostMB   = 400
)

func main() {
	antipode := flag.String("antipode", "bin/antipode", "the command to measure")
	rows := flag.Int("rows", 1_000_000, "rows of the file")
	runs := flag.Int("runs", 3, "how often it is measured; the median counts")
	flag.Parse()
	ok, err := measure(*antipode, *rows, *runs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/report:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

func measure(antipode string, rows, runs int) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "bench-report-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "results.csv")
	size, err := generate(path, rows)
	if err != nil {
		return false, err
	}
	fmt.Printf("%d rows, %d MB\n", rows, size/1e6)
	var took []time.Duration
	var peaks []int64
	for i := range runs {
		u, err := report(antipode, path, filepath.Join(dir, fmt.Sprint("out", i)))
		if err != nil {
			return false, err
		}
		fmt.Printf("run %d: %.2f s, %d MB at most, %.2f s of CPU\n", i+1, u.wall.Seconds(), u.peakMB, u.cpu.Seconds())
		took, peaks = append(took, u.wall), append(peaks, u.peakMB)
	}
	slices.Sort(took)
	slices.Sort(peaks)
	wall, peak := took[len(took)/2], peaks[len(peaks)/2]
	fmt.Printf("median: %.2f s (at most %.0f s), %d MB (at most %d MB)\n", wall.Seconds(), mostTime.Seconds(), peak, mostMB)
	return wall <= mostTime && peak <= mostMB, nil
}
