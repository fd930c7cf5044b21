//go:build linux

package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTimes of one CPU, in the kernel's ticks (USER_HZ) since it started.
type cpuTimes struct {
	busy, idle uint64 // neither has steal in it
	interrupts uint64 // of busy: soft and hard
	steal      uint64
}

func (c cpuTimes) total() uint64 { return c.busy + c.idle + c.steal }

func readCPUs() []cpuTimes {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil
	}
	return parseCPUs(b)
}

// parseCPUs reads the lines "cpuN user nice system idle iowait irq softirq
// steal guest guest_nice" of /proc/stat; see proc_stat(5). Guest time is in
// user time already. Lines that are not so are passed over.
func parseCPUs(stat []byte) (cpus []cpuTimes) {
	for line := range bytes.Lines(stat) {
		fields := strings.Fields(string(line))
		if len(fields) < 8 || !strings.HasPrefix(fields[0], "cpu") || fields[0] == "cpu" {
			continue
		}
		var ticks [8]uint64
		for i := range min(len(ticks), len(fields)-1) {
			n, err := strconv.ParseUint(fields[i+1], 10, 63)
			if err != nil {
				return nil
			}
			ticks[i] = n
		}
		user, nice, system, idle, iowait, irq, softirq, steal := ticks[0], ticks[1], ticks[2], ticks[3], ticks[4], ticks[5], ticks[6], ticks[7]
		cpus = append(cpus, cpuTimes{
			busy: user + nice + system + irq + softirq, idle: idle + iowait,
			interrupts: irq + softirq, steal: steal,
		})
	}
	return cpus
}

// shares are of the time of all CPUs: busy and stolen; and of the one CPU that
// had most of them: interrupts.
func shares(before, after []cpuTimes) (busy, steal, interrupts float64) {
	if len(before) != len(after) { // a CPU went on or off line
		return 0, 0, 0
	}
	var all cpuTimes
	for i, b := range before {
		d := after[i].less(b)
		all = cpuTimes{busy: all.busy + d.busy, idle: all.idle + d.idle, steal: all.steal + d.steal}
		interrupts = max(interrupts, share(d.interrupts, d.total()))
	}
	return share(all.busy, all.total()), share(all.steal, all.total()), interrupts
}

// less is the difference; a count that went backwards, as idle and iowait are
// documented to, counts as nothing.
func (c cpuTimes) less(b cpuTimes) cpuTimes {
	return cpuTimes{
		busy: less(c.busy, b.busy), idle: less(c.idle, b.idle),
		interrupts: less(c.interrupts, b.interrupts), steal: less(c.steal, b.steal),
	}
}

func less(a, b uint64) uint64 { return max(a, b) - b }

func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// readOwn says how long this process's threads have run, in user space and in
// the kernel, and how long they were ready to run but had no CPU. The second is
// 0 where the kernel does not count it (CONFIG_SCHED_INFO).
func readOwn() (ran, waited time.Duration) {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) == nil {
		ran = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	const tasks = "/proc/self/task"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return ran, 0
	}
	for _, thread := range threads {
		if b, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "schedstat")); err == nil { // it may have ended
			waited += parseWaited(b)
		}
	}
	return ran, waited
}

// parseWaited reads the second value of a schedstat file, which is in
// nanoseconds; see the kernel's Documentation/scheduler/sched-stats.rst.
func parseWaited(schedstat []byte) time.Duration {
	fields := strings.Fields(string(schedstat))
	if len(fields) < 2 {
		return 0
	}
	ns, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || ns < 0 {
		return 0
	}
	return time.Duration(ns)
}

func readDrops() int64 {
	b, err := os.ReadFile("/proc/net/softnet_stat")
	if err != nil {
		return 0
	}
	return parseDrops(b)
}

// parseDrops adds up the second column of softnet_stat, a line per CPU in
// hexadecimal: packets dropped because the CPU's backlog was full.
func parseDrops(softnet []byte) (drops int64) {
	for line := range bytes.Lines(softnet) {
		if fields := strings.Fields(string(line)); len(fields) > 1 {
			if n, err := strconv.ParseUint(fields[1], 16, 32); err == nil {
				drops += int64(n)
			}
		}
	}
	return drops
}
