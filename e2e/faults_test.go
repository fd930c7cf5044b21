package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// three regions; the faults hit the first one, and the pair between the other
// two must not mind.
const three = "aws:us-east-1,aws:eu-central-1,gcp:us-west1"

// TestBadLuck: each fault ends within a bounded time as failed rows that name
// the thing (skipped ones where a machine is never reached, nor its
// replacement), keeps what was measured, and leaves nothing.
func TestBadLuck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		faults string
		status string // of the four rows, of six, that are not ok
		says   []string
	}{
		"machine never boots":       {"machines:\n- {cloud: aws, region: us-east-1, never_boot: true}\n", results.StatusSkipped, []string{"aws:us-east-1", "SSH"}},
		"SSH refused":               {"machines:\n- {cloud: gcp, region: us-west1, refuse_ssh: true}\n", results.StatusSkipped, []string{"gcp:us-west1", "refused"}},
		"EC2 never answers":         {"calls:\n- {cloud: aws, region: us-east-1, call: RunInstances, kind: silent}\n", results.StatusFailed, []string{"us-east-1", "RunInstances"}},
		"GCE never answers":         {"calls:\n- {cloud: gcp, call: instances.insert, kind: silent}\n", results.StatusFailed, []string{"us-west1", "instances"}},
		"no capacity":               {"calls:\n- {cloud: aws, region: us-east-1, call: RunInstances, kind: capacity}\n", results.StatusFailed, []string{"us-east-1", "apacity"}},
		"first machine never boots": {"machines:\n- {cloud: aws, region: us-east-1, never_boot: true, count: 1}\n", results.StatusOK, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of each is waiting for a time limit
			// A slow computer has healthy machines that take longer to boot.
			again(t, func(try int) (wrong string) {
				u := self(t)
				faults := filepath.Join(u.dir, "faults.yaml")
				write(t, faults, test.faults)
				o := u.run(t, 3*time.Minute, "sweep", "--lab", "--lab-faults", faults, "--regions", three, "--duration", "500ms",
					"--rtt-probes", "5", "--boot-timeout", fmt.Sprint(12<<(2*try), "s"), "--call-timeout", fmt.Sprint(2<<(2*try), "s"))
				code := 3
				if test.status == results.StatusOK {
					code = 0
				}
				want := map[string]int{results.StatusOK: 2}
				want[test.status] += 4
				rows := statuses(t, readRows(t, u.runFolder(t)))
				if lacks := o.lacks(code, append(test.says, "nothing is left")...); len(lacks) > 0 || !maps.Equal(rows, want) {
					return fmt.Sprintf("%q, rows by status: %v, want %v\n%s\n%s", lacks, rows, want, o.stdout, o.stderr)
				}
				return ""
			})
		})
	}
}

// statuses counts rows by status, of which no failed one may have figures.
func statuses(t *testing.T, rows []results.Row) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, r := range rows {
		n[r.Status]++
		if r.Status != results.StatusOK && (r.GoodputBps != nil || r.RTTP50Ms != nil || r.Bytes != nil || r.Error == "") {
			t.Errorf("a failed row with figures or without a reason: %+v", r)
		}
	}
	return n
}

// TestProbeDies kills the probe of one machine in the middle of its test. Another
// one takes its place, the test is repeated, and nothing is left.
func TestProbeDies(t *testing.T) {
	t.Parallel()
	u := self(t)
	s := u.start(t, "sweep", "--lab", "--regions", three, "--stop", "duration", "--duration", "4s", "--rtt-probes", "5")
	s.waitFor(t, "measuring", time.Minute)
	var victim int
	eventually(t, 30*time.Second, "a probe to kill", func() bool {
		for _, p := range s.descendants() {
			if strings.Contains(p.command, "antipode-probe") && strings.Contains(p.command, "agent") {
				victim = p.pid
				return true
			}
		}
		return false
	})
	time.Sleep(2 * time.Second) // into the first throughput tests
	kill(t, victim)
	o := s.wait(t, time.Minute)
	o.want(t, 0, "machine away", "killed by SIGKILL", "6 ok", "nothing is left")
}

// TestMachineSilent stops a machine's SSH server, as a network does that breaks
// without a word, until the controller has noticed. The agents of before still
// have the port when it is dialled again.
func TestMachineSilent(t *testing.T) {
	t.Parallel() // most of it is waiting for the keepalive
	u := self(t)
	s := u.start(t, "sweep", "--lab", "--regions", three, "--stop", "duration", "--duration", "3s", "--rtt-probes", "5")
	s.waitFor(t, "machine 3/3 ready", time.Minute) // all of them then have an agent that has the port
	family := s.descendants()
	lab := inner(t, family)
	i := slices.IndexFunc(family, func(p process) bool { return p.parent == lab && strings.Contains(p.command, "machine") })
	if i < 0 {
		t.Fatalf("no machine in %v", family)
	}
	signal(t, family[i].pid, syscall.SIGSTOP)
	s.waitFor(t, "machine away", time.Minute)
	signal(t, family[i].pid, syscall.SIGCONT)
	s.wait(t, 2*time.Minute).want(t, 0, "no answer to a keepalive", "6 ok", "nothing is left")
}

func signal(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// TestFaultFile: a fault file that makes no sense is refused with file and line.
func TestFaultFile(t *testing.T) {
	u := self(t)
	faults := filepath.Join(u.dir, "faults.yaml")
	write(t, faults, "calls:\n- {cloud: aws, knd: silent}\n")
	u.run(t, time.Minute, "sweep", "--lab", "--lab-faults", faults, "--regions", three).want(t, 2, "faults.yaml:2", "knd")
}
