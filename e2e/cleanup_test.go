package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// upLab brings a lab of its own up for the test.
func (u user) upLab(t *testing.T, flags ...string) string {
	t.Helper()
	lab := fmt.Sprintf("e2e-%d", time.Now().UnixNano()%1e9)
	u.run(t, time.Minute, append([]string{"lab", "up", lab}, flags...)...).want(t, 0)
	t.Cleanup(func() { u.run(t, time.Minute, "lab", "down", lab) })
	return lab
}

// TestCleanup kills a sweep in the middle, and cleans up after it from another
// folder, while another run goes on.
func TestCleanup(t *testing.T) {
	t.Parallel()
	u := self(t)
	lab := u.upLab(t)
	dead := u.start(t, "sweep", "--lab="+lab, "--regions", "aws:us-east-1,gcp:us-east4", "--stop", "duration", "--duration", "30s", "--rtt-probes", "5")
	dead.waitFor(t, "measuring", time.Minute)
	kill(t, dead.cmd.Process.Pid)
	<-dead.done
	run := filepath.Base(u.runFolder(t))
	alive := u.start(t, "sweep", "--lab="+lab, "--out", "elsewhere", "--regions", "aws:eu-west-1,gcp:us-east4", "--stop", "duration", "--duration", "5s", "--rtt-probes", "5")
	alive.waitFor(t, "measuring", time.Minute)

	u.run(t, time.Minute, "runs", "--lab", lab).want(t, 0, run, "2 machines")
	u.run(t, time.Minute, "runs", "--local", "--out", "elsewhere").want(t, 0, "running")
	u.run(t, time.Minute, "runs", "--local").want(t, 0, run, "can be resumed", "not torn down")
	u.run(t, time.Minute, "cleanup", "--lab", lab, "--expired").want(t, 0, "no such run")
	u.run(t, time.Minute, "cleanup", "--lab", lab, "--all").want(t, 2, run, "--yes")
	u.run(t, time.Minute, "cleanup", "--lab", lab, "--run", run, "--dry-run").want(t, 0, "instance", "would be removed")

	o := u.run(t, time.Minute, "cleanup", "--lab", lab, "--run", run)
	o.want(t, 0, "instance", "key-pair", "security-group", "network", "firewall-rule", "nothing is left")
	t.Logf("cleaned up in %v: %s", o.took.Round(10*time.Millisecond), lastLine(o.stdout))
	alive.wait(t, time.Minute).want(t, 0, "2 pairs: 2 ok", "nothing is left")
	checkEmpty(t, u.run(t, time.Minute, "lab", "inventory", lab))
	u.run(t, time.Minute, "cleanup", "--lab", lab, "--run", run).want(t, 0, run+": nothing is left")
	u.run(t, time.Minute, "cleanup", "--lab", lab, "--all").want(t, 0, "no such run")
}

// TestCleanupUnknown: a region that can't be looked into is not clean, one that
// the account has not enabled is left out.
func TestCleanupUnknown(t *testing.T) {
	t.Parallel()
	u := self(t)
	faults := filepath.Join(u.dir, "faults.yaml")
	write(t, faults, "calls:\n- {cloud: aws, region: eu-west-1, call: DescribeInstances, kind: denied}\nopted_out: [af-south-1]\n")
	lab := u.upLab(t, "--lab-faults", faults)
	for _, args := range [][]string{{"--all", "--yes"}, {"--expired"}, {"--run", "r1"}, {"--all", "--dry-run"}} {
		o := u.run(t, time.Minute, append([]string{"cleanup", "--lab", lab}, args...)...)
		o.want(t, 4, "UNKNOWN", "aws:eu-west-1", "not looked into", "aws:af-south-1")
	}
	u.run(t, time.Minute, "cleanup", "--lab", lab, "--all", "--clouds", "gcp").want(t, 0, "no such run")
}

// TestInterruptTwice leaves at once, and the command that it prints removes what
// is left.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	u := self(t)
	// The teardown's first call is never answered: it is still going on when
	// the second signal comes.
	faults := filepath.Join(u.dir, "faults.yaml")
	write(t, faults, "calls:\n- {cloud: aws, call: TerminateInstances, kind: silent, count: 1}\n")
	lab := u.upLab(t, "--lab-faults", faults)
	s := u.start(t, "sweep", "--lab="+lab, "--regions", "aws:us-east-1,gcp:us-east4", "--stop", "duration", "--duration", "30s", "--rtt-probes", "5")
	s.waitFor(t, "measuring", time.Minute)
	signal(t, s.cmd.Process.Pid, syscall.SIGINT)
	s.waitFor(t, "tearing down", 10*time.Second)
	time.Sleep(1200 * time.Millisecond) // sooner it would count as the same wish
	signal(t, s.cmd.Process.Pid, syscall.SIGINT)
	o := s.wait(t, 10*time.Second)
	o.want(t, 130, "left at once")
	_, command, _ := strings.Cut(lastLine(o.stderr), "left with: ")
	words := strings.Fields(command)
	if len(words) < 4 || words[0] != binary || words[1] != "cleanup" {
		t.Fatalf("no command in %q", o.stderr)
	}
	u.run(t, time.Minute, words[1:]...).want(t, 0, "nothing is left")
	checkEmpty(t, u.run(t, time.Minute, "lab", "inventory", lab))
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
