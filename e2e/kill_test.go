package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killLimit is how long anything may outlive the kill: a second, if the computer
// does nothing else.
const killLimit = 30 * time.Second

// TestKill kills parts of a sweep in the middle of its tests, as no program
// can prepare for. Nothing may be left: no process, namespace, device, mount
// or file but the results.
func TestKill(t *testing.T) {
	for how, strike := range map[string]func(*testing.T, *started, int){
		"the controller": func(t *testing.T, s *started, _ int) { kill(t, s.cmd.Process.Pid) },
		"the lab":        func(t *testing.T, s *started, inner int) { kill(t, inner) },
		"the controller while the lab is stopped": func(t *testing.T, s *started, inner int) {
			if err := syscall.Kill(inner, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			kill(t, s.cmd.Process.Pid)
		},
	} {
		for name, u := range users(t) {
			t.Run(how+" of "+name, func(t *testing.T) {
				before, known := lookAtHost(t, u), namespaces()
				s := u.start(t, "sweep", "--lab", "--regions", four, "--stop", "duration", "--duration", "20s", "--rtt-probes", "5")
				s.waitFor(t, "measuring", time.Minute)
				time.Sleep(2 * time.Second) // into the throughput tests
				var family []process
				var made []string
				// The command, the lab, four machines, an agent on each at least.
				eventually(t, 10*time.Second, "family of 10 in 5 namespaces", func() bool {
					family = s.descendants()
					made = newNamespaces(known, family)
					return len(family) >= 10 && len(made) >= 5
				})
				strike(t, s, inner(t, family))
				struck := time.Now()
				var left []string
				for time.Since(struck) < killLimit {
					if left = survivors(family, made); len(left) == 0 {
						break
					}
					time.Sleep(50 * time.Millisecond)
				}
				if len(left) > 0 {
					t.Fatalf("after %v there are still %v", killLimit, left)
				}
				s.wait(t, killLimit/slack)
				t.Logf("all gone after %v", time.Since(struck).Round(10*time.Millisecond))
				if more := lookAtHost(t, u).added(before); len(more) > 0 {
					t.Errorf("left behind: %v", more)
				}
				readRows(t, u.runFolder(t)) // what was measured can be read
			})
		}
	}
}

// inner finds the lab's inner process: the command's child.
func inner(t *testing.T, family []process) int {
	t.Helper()
	for _, p := range family[1:] {
		if p.parent == family[0].pid && strings.Contains(p.command, "lab-inner") {
			return p.pid
		}
	}
	t.Fatalf("no inner process in %v", family)
	return 0
}

// newNamespaces are those of the family that nobody knew before.
func newNamespaces(known map[string]int, family []process) []string {
	pids := map[int]bool{}
	for _, p := range family {
		pids[p.pid] = true
	}
	var made []string
	for name, pid := range namespaces() {
		if _, old := known[name]; !old && pids[pid] {
			made = append(made, name)
		}
	}
	return made
}

// survivors names processes and namespaces that are still there.
func survivors(family []process, made []string) []string {
	var left []string
	all := processes()
	for _, p := range family {
		if now, ok := all[p.pid]; ok && now.born == p.born {
			left = append(left, fmt.Sprint(p))
		}
	}
	inUse := namespaces()
	for _, name := range made {
		if _, ok := inUse[name]; ok {
			left = append(left, name)
		}
	}
	return left
}

// TestInterrupt presses Ctrl-C: no new tests, teardown, partial results, 130.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	u := self(t)
	s := u.start(t, "sweep", "--lab", "--regions", six, "--stop", "duration", "--duration", "2s", "--rtt-probes", "5")
	s.waitFor(t, "pair 1/30", time.Minute)
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.wait(t, 30*time.Second).want(t, 130, "tearing down", "nothing is left", "interrupted")
	count := map[string]int{}
	for _, r := range readRows(t, u.runFolder(t)) {
		count[r.Status]++
	}
	if count["ok"] == 0 || count["skipped"] == 0 || count["ok"]+count["skipped"]+count["failed"] != 30 {
		t.Errorf("rows by status: %v of 30", slices.Sorted(maps.Keys(count)))
	}
}
