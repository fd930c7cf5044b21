package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDeadMansSwitch kills a sweep for good. Its machines live until the run's
// time is over, and then end themselves, with their disks: nobody cleans up,
// and the one with a timer of its own is rebooted meanwhile.
func TestDeadMansSwitch(t *testing.T) {
	t.Parallel() // most of it is waiting
	// Compute Engine takes no shorter life; a slow computer has not even launched in it.
	again(t, func(try int) (wrong string) { return dieAlone(t, 30*time.Second<<(2*try)) })
}

// dieAlone lets machines outlive their sweep, until their life is over.
func dieAlone(t *testing.T, life time.Duration) (wrong string) {
	t.Helper()
	u := self(t)
	lab := u.upLab(t)
	s := u.start(t, "sweep", "--lab="+lab, "--regions", "aws:eu-central-1,gcp:europe-west3", "--max-time", life.String(),
		"--stop", "duration", "--duration", "20s", "--rtt-probes", "3")
	measuring := func() bool { return strings.Contains(s.stderr.String(), "measuring") }
	for !measuring() && time.Since(s.began) < life*5/6 {
		time.Sleep(50 * time.Millisecond)
	}
	kill(t, s.cmd.Process.Pid)
	s.wait(t, killLimit/slack)
	tooSoon := fmt.Sprintf("its life of %v was over too soon:\n%s", life, s.stderr)
	if !measuring() {
		return tooSoon
	}
	begin := journalOf(t, u.runFolder(t))[0]
	if !reboot(t, u, lab, "aws:eu-central-1", begin.Expires) { // or a timer that is lost with it would do
		return tooSoon
	}
	time.Sleep(time.Until(begin.Expires) - life/6)
	alive := machinesIn(t, u, lab)
	if late := time.Since(begin.Expires); late > 0 {
		return fmt.Sprintf("looked %v too late", late)
	}
	if len(alive) != 2+2+2 {
		t.Errorf("%v before the run expires there are %v; want two instances, two disks, two machines", time.Until(begin.Expires), alive)
	}
	time.Sleep(time.Until(begin.Expires))
	eventually(t, 20*time.Second, "end of the machines", func() bool { return len(machinesIn(t, u, lab)) == 0 })
	t.Logf("ended %v after the run expired", tenths(time.Since(begin.Expires)))
	return ""
}

// machinesIn are what costs money: instances and disks, and the lab's machines.
func machinesIn(t *testing.T, u user, lab string) (alive []string) {
	t.Helper()
	all := readInventory(t, u.run(t, time.Minute, "lab", "inventory", lab))
	for _, i := range all.left() {
		if slices.Contains([]string{"instance", "disk"}, i.Kind) {
			alive = append(alive, i.Cloud+" "+i.Kind+" "+i.ID)
		}
	}
	for _, p := range all.Processes {
		alive = append(alive, fmt.Sprint(p))
	}
	return alive
}

// reboot reboots a region's machine from within, and reports whether it has a new
// timer before it ends.
func reboot(t *testing.T, u user, lab, region string, ends time.Time) bool {
	t.Helper()
	all := readInventory(t, u.run(t, time.Minute, "lab", "inventory", lab)).Processes
	i := slices.IndexFunc(all, func(p guest) bool { return p.Region == region })
	if i < 0 && time.Now().After(ends) {
		return false
	}
	if i < 0 {
		t.Fatalf("no machine in %s", region)
	}
	pid := onHost(t, u, lab, all[i].PID)
	before := timers(pid)
	cmd := exec.Command("nsenter", "--target", strconv.Itoa(pid), "--mount", "--net", "--pid", "/run/antipode/bin/reboot")
	if os.Getuid() != 0 { // the lab is in a user namespace
		cmd.Args = slices.Insert(cmd.Args, 1, "--user", "--preserve-credentials")
	}
	out, err := cmd.CombinedOutput() // that was killed in the reboot, maybe
	rebooted := func() bool {
		now := timers(pid)
		return len(before) == 1 && len(now) == 1 && now[0].pid != before[0].pid
	}
	eventually(t, 10*time.Second, fmt.Sprintf("reboot (%v, %s)", err, out), func() bool { return rebooted() || time.Now().After(ends) })
	return rebooted()
}

// timers are the machine's processes that wait for its end.
func timers(pid int) []process {
	return slices.DeleteFunc(below(pid), func(p process) bool { return !strings.HasPrefix(p.command, "sleep ") })
}

// onHost is the number on the host of a process that the lab knows by another.
func onHost(t *testing.T, u user, lab string, pid int) int {
	t.Helper()
	inner, err := strconv.Atoi(strings.TrimSpace(contents(t, filepath.Join(u.dir, "run", "antipode", "labs", lab, "pid"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range below(inner) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		_, numbers, _ := strings.Cut(string(status), "NSpid:")
		numbers, _, _ = strings.Cut(numbers, "\n")
		// The host's, the lab's, and as the first of its machine.
		if f := strings.Fields(numbers); len(f) > 2 && f[len(f)-2] == strconv.Itoa(pid) && f[len(f)-1] == "1" {
			return p.pid
		}
	}
	t.Fatalf("no process %d below %d", pid, inner)
	return 0
}
