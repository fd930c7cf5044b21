package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// The limits.
const (
	limitTime   = 10 * time.Minute
	limitRatio  = 1.15
	limitMemory = 500e6 // bytes
)

func main() {
	regions := flag.Int("regions", 46, "how many regions")
	bytes := flag.String("bytes", "1MB", "that each throughput test sends; empty: adaptive")
	binary := flag.String("antipode", "bin/antipode", "the command")
	flag.Parse()
	wrong, err := bench(*binary, *regions, *bytes)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/sweep:", err)
		os.Exit(1)
	}
	for _, w := range wrong {
		fmt.Fprintln(os.Stderr, "OVER:", w)
	}
	if len(wrong) > 0 {
		os.Exit(1)
	}
}

// bench sweeps once, prints the figures, and says which limits were passed.
func bench(binary string, regions int, bytes string) (wrong []string, err error) {
	binary, err = filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "antipode-bench-sweep-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := "bench-sweep-" + strconv.Itoa(os.Getpid())
	if out, err := command(dir, binary, "lab", "up", name).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("start the lab: %w\n%s", err, out)
	}
	defer func() {
		if out, down := command(dir, binary, "lab", "down", name).CombinedOutput(); down != nil {
			err = fmt.Errorf("end the lab: %w\n%s", down, out)
		}
	}()
	args := []string{"sweep", "--lab=" + name, "--max-regions", strconv.Itoa(regions)}
	if bytes != "" {
		args = append(args, "--stop", "bytes", "--bytes", bytes)
	}
	before := loadavg()
	sweep := command(dir, binary, args...)
	began := time.Now()
	out, swept := sweep.Output()
	took := time.Since(began)
	f, err := read(dir)
	if err != nil {
		return nil, fmt.Errorf("%w; the sweep: %v\n%s", err, swept, out)
	}
	f.took, f.regions = took, regions
	f.memory = float64(sweep.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * 1024
	f.tell(before)
	return f.over(), nil
}

func command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, nil
	return cmd
}

// figures are what a sweep reached.
type figures struct {
	regions         int
	rows, ok, busy  int
	reasons         map[string]int
	took            time.Duration
	makespan, bound float64 // seconds
	memory          float64 // bytes
}

// read has the figures of the only run under dir.
func read(dir string) (f figures, err error) {
	found, err := filepath.Glob(filepath.Join(dir, "runs", "*", "run.json"))
	if err != nil || len(found) != 1 {
		return f, fmt.Errorf("%d runs, %w", len(found), err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return f, err
	}
	var run struct {
		Reached struct {
			MakespanS float64 `json:"makespan_s"`
			BoundS    float64 `json:"bound_s"`
		}
	}
	if err := json.Unmarshal(data, &run); err != nil {
		return f, err
	}
	file, err := results.ReadFile(filepath.Join(filepath.Dir(found[0]), "results.csv"))
	f = figures{rows: len(file.Rows), makespan: run.Reached.MakespanS, bound: run.Reached.BoundS, reasons: map[string]int{}}
	for _, r := range file.Rows {
		if r.Status == results.StatusOK {
			f.ok++
		} else {
			f.reasons[r.Status+": "+r.Error]++
		}
		if r.HasFlag(results.FlagLabBusy) {
			f.busy++
		}
	}
	return f, err
}

func (f figures) ratio() float64 { return f.makespan / f.bound }

func (f figures) tell(before string) {
	fmt.Printf("%d regions, %d directed pairs: %d ok of %d rows\n", f.regions, f.regions*(f.regions-1), f.ok, f.rows)
	fmt.Printf("all in all %v (limit %v)\n", f.took.Round(100*time.Millisecond), limitTime)
	fmt.Printf("tests took %.1f s, no order of them could take less than %.1f s: %.3f times that (limit %.2f)\n", f.makespan, f.bound, f.ratio(), limitRatio)
	fmt.Printf("the controller had %.0f MB at most (limit %.0f)\n", f.memory/1e6, limitMemory/1e6)
	fmt.Printf("%d CPUs, load average %s before and %s after; %d rows are flagged %s, whose figures are not exact\n",
		runtime.NumCPU(), before, loadavg(), f.busy, results.FlagLabBusy)
	for reason, n := range f.reasons {
		fmt.Printf("%d rows %s\n", n, reason)
	}
}

// over says which limits were passed.
func (f figures) over() (wrong []string) {
	want := f.regions * (f.regions - 1)
	for _, limit := range []struct {
		passed bool
		what   string
	}{
		{f.rows != want || f.ok != want, fmt.Sprintf("%d rows are ok of %d, want %d", f.ok, f.rows, want)},
		{f.took > limitTime, fmt.Sprintf("it took %v", f.took)},
		{!(f.ratio() <= limitRatio), fmt.Sprintf("makespan over bound is %.3f", f.ratio())},
		{!(f.memory > 0 && f.memory <= limitMemory), fmt.Sprintf("the controller had %.0f MB", f.memory/1e6)},
	} {
		if limit.passed {
			wrong = append(wrong, limit.what)
		}
	}
	return wrong
}

// loadavg is how busy the computer was in the last minute.
func loadavg() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}
