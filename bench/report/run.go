package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/antipode-bench/antipode/analysis"
)

// used is what one run of the command took.
type used struct {
	wall, cpu time.Duration
	peakMB    int64
}

// report runs the command and sees to it that its work was done.
func report(antipode, file, out string) (used, error) {
	cmd := exec.Command(antipode, "report", file, "--out", out)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return used{}, fmt.Errorf("%s: %w", cmd, err)
	}
	u := used{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.peakMB = usage.Maxrss * 1024 / 1e6 // kB on Linux
	}
	return u, verify(out)
}

// verify looks for the statistics and the charts.
func verify(out string) error {
	data, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		return err
	}
	var r analysis.Report
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	if all := r.Groups[0]; all.RTT.N < r.Rows.OK*99/100 || all.RTT.TheilSen == nil || r.Rows.SetApart != 0 {
		return fmt.Errorf("the report lacks rows: %+v", r.Rows)
	}
	charts, err := filepath.Glob(filepath.Join(out, "charts", "*.svg"))
	if err == nil && len(charts) < 5 {
		err = fmt.Errorf("only %d charts", len(charts))
	}
	return err
}
