//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ticksPerSecond of /proc/stat; USER_HZ is 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// busyCPU is the CPU time, in seconds, that the whole computer has spent since
// it started. The work of a network's interrupts belongs to no process, so only
// the whole tells what a transfer cost.
func busyCPU() (float64, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	// user nice system idle iowait irq softirq steal; what is stolen was not spent
	fields := strings.Fields(strings.TrimPrefix(line, "cpu "))
	if len(fields) < 7 {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var ticks uint64
	for _, f := range slices.Concat(fields[0:3], fields[5:7]) {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		ticks += n
	}
	return float64(ticks) / ticksPerSecond, nil
}
