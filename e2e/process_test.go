package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// started is a command that is running.
type started struct {
	cmd            *exec.Cmd
	began          time.Time
	stdout, stderr *buffer
	done           chan struct{}
}

// buffer may be read while the command writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (u user) start(t *testing.T, args ...string) *started {
	t.Helper()
	s := &started{
		cmd:    u.command(context.WithoutCancel(t.Context()), args...),
		began:  time.Now(),
		stdout: &buffer{}, stderr: &buffer{},
		done: make(chan struct{}),
	}
	s.cmd.Stdout, s.cmd.Stderr = s.stdout, s.stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		s.cmd.Wait()
	}()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		<-s.done
	})
	return s
}

func (s *started) waitFor(t *testing.T, text string, limit time.Duration) {
	t.Helper()
	eventually(t, limit, fmt.Sprintf("%q", text), func() bool {
		ended := false
		select {
		case <-s.done:
			ended = true
		default:
		}
		said := strings.Contains(s.stderr.String(), text)
		if ended && !said {
			t.Fatalf("ended before it said %q:\n%s\n%s", text, s.stdout, s.stderr)
		}
		return said
	})
}

func (s *started) wait(t *testing.T, limit time.Duration) outcome {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(slack * limit):
		t.Fatalf("still running after %v:\n%s\n%s", slack*limit, s.stdout, s.stderr)
	}
	return outcome{s.cmd.ProcessState.ExitCode(), s.stdout.String(), s.stderr.String(), time.Since(s.began)}
}

// process is a line of the process table.
type process struct {
	pid, parent int
	born        string // start time in clock ticks: tells a pid's users apart
	command     string
}

func processes() map[int]process {
	all := map[int]process{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue // it ended meanwhile
		}
		// The name is in brackets and may hold anything; the fields follow it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		if fields[0] == "Z" {
			continue // dead, and only its parent has not noticed
		}
		line, _ := os.ReadFile(dir + "/cmdline")
		all[pid] = process{pid, parent, fields[19], strings.ReplaceAll(string(line), "\x00", " ")}
	}
	return all
}

// descendants lists the command's process and everything below it.
func (s *started) descendants() []process { return below(s.cmd.Process.Pid) }

// below lists a process and everything below it.
func below(pid int) []process {
	all := processes()
	family := []process{all[pid]}
	for i := 0; i < len(family); i++ {
		for _, p := range all {
			if p.parent == family[i].pid {
				family = append(family, p)
			}
		}
	}
	return family
}

// namespaces maps every namespace that a process is in to one such process.
func namespaces() map[string]int {
	all := map[string]int{}
	links, _ := filepath.Glob("/proc/[0-9]*/ns/*")
	for _, link := range links {
		if name, err := os.Readlink(link); err == nil {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			all[name] = pid
		}
	}
	return all
}

// host is what a lab must leave as it was.
type host struct {
	mounts, devices, files []string
}

func lookAtHost(t *testing.T, u user) host {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	h := host{mounts: strings.Split(string(mounts), "\n")}
	devices, err := os.ReadDir("/sys/class/net")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		h.devices = append(h.devices, d.Name())
	}
	err = filepath.WalkDir(u.dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && !strings.HasPrefix(path, filepath.Join(u.dir, "runs")) {
			h.files = append(h.files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// added lists what h has and before had not.
func (h host) added(before host) []string {
	var more []string
	for _, lists := range [][2][]string{{h.mounts, before.mounts}, {h.devices, before.devices}, {h.files, before.files}} {
		for _, x := range lists[0] {
			if !slices.Contains(lists[1], x) {
				more = append(more, x)
			}
		}
	}
	return more
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

// eventually waits until ok, at most limit on a quiet computer.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(slack * limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within %v", what, slack*limit)
		}
	}
}
