package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// controllerCommand is the hidden sub-command of the test program that starts a
// lab with machines, says that it is up and waits to be killed.
const controllerCommand = "lab-test-controller"

// fdTestMachine is where the controller finds the machine binary.
const fdTestMachine = 3

// controllerMain starts a lab; with a name as its argument, one that stays.
func controllerMain(args []string) int {
	if err := controller(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func controller(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	binary, err := readWhole(os.NewFile(fdTestMachine, "machine"))
	if err != nil {
		return err
	}
	o := Options{Rough: true, World: testWorld(), Timing: brisk(), Machine: binary, Log: os.Stderr}
	l, pid, err := startOrUp(ctx, o, args)
	if err != nil {
		return err
	}
	for _, region := range testRegions {
		if err := runMachines(ctx, l, region, 1); err != nil {
			return err
		}
	}
	machines, err := machinesOf(ctx, l, len(testRegions))
	if err != nil {
		return err
	}
	for _, m := range machines { // connections in use when the lab dies
		c, err := l.Dial(ctx, "tcp", netip.AddrPortFrom(m.Public, 22).String())
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, _ = c.Write(make([]byte, 1<<20)) // more than is read: the server may hang up on it
	}
	fmt.Println("up", pid)
	<-l.Done()
	fmt.Println("gone", l.Err())
	return nil
}

func startOrUp(ctx context.Context, o Options, args []string) (l *Lab, pid int, err error) {
	if len(args) == 0 {
		l, err := Start(ctx, o)
		if err != nil {
			return nil, 0, err
		}
		return l, l.control.(*client).proc.cmd.Process.Pid, nil
	}
	if err := Up(ctx, args[0], o); err != nil {
		return nil, 0, err
	}
	s, err := findState(args[0])
	if err != nil {
		return nil, 0, err
	}
	if pid, err = s.pid(); err != nil {
		return nil, 0, err
	}
	l, err = Enter(ctx, args[0])
	return l, pid, err
}

// nobody is who the rootless tests run as when they are run by root.
const nobody = 65534

// asUsers runs f as the calling user and, if that is root, as nobody too.
func asUsers(t *testing.T, f func(t *testing.T, cred *syscall.Credential)) {
	name := "ordinary user"
	if os.Geteuid() == 0 {
		name = "root"
		t.Run("rootless", func(t *testing.T) { f(t, &syscall.Credential{Uid: nobody, Gid: nobody}) })
	}
	t.Run(name, func(t *testing.T) { f(t, nil) })
}

// victim is a controller in a process of its own, with the inner it started.
type victim struct {
	controller *exec.Cmd
	out        *bufio.Reader
	inner      int
	dir        string          // all that it may write to
	namespaces map[string]bool // of the inner and its machines: "net:[4026532281]"
}

func startVictim(t *testing.T, cred *syscall.Credential, args ...string) *victim {
	t.Helper()
	v := &victim{dir: folderOf(t, cred)}
	machine, err := memFile("machine", machineBinary)
	if err != nil {
		t.Fatal(err)
	}
	defer machine.Close()
	v.controller = exec.Command("/proc/self/exe", append([]string{controllerCommand}, args...)...)
	v.controller.ExtraFiles = []*os.File{machine}
	v.controller.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + v.dir, "XDG_RUNTIME_DIR=" + v.dir}
	v.controller.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	v.controller.Stderr = os.Stderr
	v.controller.Dir = "/"
	out, err := v.controller.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.controller.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.controller.Process.Kill(); v.controller.Wait() })
	v.out = bufio.NewReader(out)
	line, err := v.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the controller said %q, %v; want that the lab is up", line, err)
	}
	if _, err := fmt.Sscanf(line, "up %d", &v.inner); err != nil {
		t.Fatalf("the controller said %q: %v", line, err)
	}
	v.namespaces = namespacesOf(t, v.inner)
	for _, pid := range childrenOf(t, v.inner) {
		maps.Copy(v.namespaces, namespacesOf(t, pid))
	}
	if want := 5 * (1 + len(testRegions)); len(v.namespaces) != want {
		t.Errorf("%d namespaces; want %d, five of each process", len(v.namespaces), want)
	}
	return v
}

// folderOf makes a temporary folder that belongs to a user, all the way up.
func folderOf(t *testing.T, cred *syscall.Credential) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lab-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if cred != nil {
		if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	var children []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range strings.Fields(string(data)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			children = append(children, child)
		}
	}
	return children
}

func namespacesOf(t *testing.T, pid int) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	for _, kind := range []string{"net", "pid_for_children", "mnt", "uts", "ipc"} {
		link := fmt.Sprintf("/proc/%d/ns/%s", pid, kind)
		ns, err := os.Readlink(link)
		if err != nil {
			t.Fatal(err)
		}
		if own, _ := os.Readlink("/proc/self/ns/" + kind); own == ns {
			t.Errorf("%s of the inner is the host's", kind)
		}
		found[ns] = true
	}
	return found
}

// processesIn lists who is in one of the namespaces: their command lines.
func processesIn(namespaces map[string]bool) []string {
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/ns/*")
	for _, link := range links {
		pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
		if ns, err := os.Readlink(link); err == nil && namespaces[ns] && !dead(pid) {
			command, _ := os.ReadFile(filepath.Join(link, "../../cmdline"))
			found = append(found, link+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// goneWithin is how long after a kill nothing may be left. It takes a tenth of a
// second on a computer that does nothing else, and minutes where a socket keeps a
// namespace.
const goneWithin = 30 * time.Second

// patience is longer than anything takes that comes at all.
const patience = 2 * time.Minute

func wantGone(t *testing.T, v *victim) {
	t.Helper()
	begun := time.Now()
	var left []string
	for time.Since(begun) < goneWithin {
		if left = processesIn(v.namespaces); len(left) == 0 && dead(v.inner) {
			t.Logf("gone after %v", time.Since(begun).Round(time.Millisecond))
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("left after %v: %s", goneWithin, strings.Join(left, "\n"))
}

// dead reports whether pid has ended, waited for or not: who adopts the orphans
// of a killed controller is the host's business.
func dead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z") || strings.HasPrefix(after, "X")
}

func TestKillLeavesNothing(t *testing.T) {
	cases := []struct {
		name string
		kill func(t *testing.T, v *victim)
	}{
		{"controller", func(t *testing.T, v *victim) { kill(t, v.controller.Process.Pid, syscall.SIGKILL) }},
		{"inner", func(t *testing.T, v *victim) { kill(t, v.inner, syscall.SIGKILL) }},
		{"controller while the inner is stopped", func(t *testing.T, v *victim) {
			halt(t, v.inner)
			kill(t, v.controller.Process.Pid, syscall.SIGKILL)
		}},
	}
	asUsers(t, func(t *testing.T, cred *syscall.Credential) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				before := hostState(t)
				v := startVictim(t, cred)
				c.kill(t, v)
				wantGone(t, v)
				wantHostState(t, before)
				if left, err := os.ReadDir(v.dir); err != nil || len(left) > 0 {
					t.Errorf("files left: %v, %v", left, err)
				}
			})
		}
		t.Run("inner of a named lab", func(t *testing.T) {
			before := hostState(t)
			v := startVictim(t, cred, "named")
			kill(t, v.controller.Process.Pid, syscall.SIGKILL)
			if _, err := v.controller.Process.Wait(); err != nil || dead(v.inner) {
				t.Errorf("the named lab died with its controller (%v)", err)
			}
			kill(t, v.inner, syscall.SIGKILL)
			wantGone(t, v)
			wantHostState(t, before)
			t.Setenv("XDG_RUNTIME_DIR", v.dir)
			if err := Down(t.Context(), "named"); err != nil {
				t.Errorf("Down of the dead lab = %v", err)
			}
			if left, err := os.ReadDir(filepath.Join(v.dir, "antipode", "labs")); err != nil || len(left) > 0 {
				t.Errorf("files left: %v, %v", left, err)
			}
		})
	})
}

func kill(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

// halt stops a process and waits until all its threads stand still: until then
// one of them may go on for a while.
func halt(t *testing.T, pid int) {
	t.Helper()
	kill(t, pid, syscall.SIGSTOP)
	for by := time.Now().Add(patience); moving(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(by) {
			t.Fatalf("process %d goes on after SIGSTOP", pid)
		}
	}
}

// moving says whether any thread of a process is not stopped. The state follows
// the program's name, which is in parentheses.
func moving(pid int) bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return slices.ContainsFunc(stats, func(path string) bool {
		stat, err := os.ReadFile(path)
		_, state, found := strings.Cut(string(stat), ") ")
		return err == nil && found && !strings.HasPrefix(state, "T")
	})
}

// hostState is what a lab must not change: devices and mounts.
func hostState(t *testing.T) map[string]string {
	t.Helper()
	state := make(map[string]string)
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	state["mounts"] = string(mounts)
	devices, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		state["devices"] += d.Name + " "
	}
	return state
}

func wantHostState(t *testing.T, want map[string]string) {
	t.Helper()
	for what, got := range hostState(t) {
		if got != want[what] {
			t.Errorf("%s of the host changed\nfrom %s\nto   %s", what, want[what], got)
		}
	}
}

func TestInnerDeathIsTold(t *testing.T) {
	v := startVictim(t, nil)
	kill(t, v.inner, syscall.SIGKILL)
	said, err := io.ReadAll(v.out)
	if err != nil || !strings.Contains(string(said), "signal: killed") {
		t.Errorf("the controller said %q, %v; want that the inner was killed", said, err)
	}
	if err := v.controller.Wait(); err != nil {
		t.Errorf("the controller: %v", err)
	}
}

// open starts a lab for one test.
func open(t *testing.T, o Options) *Lab {
	t.Helper()
	o.Log = t.Output()
	l, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestClose(t *testing.T) {
	l := open(t, Options{Rough: true})
	proc := l.control.(*client).proc
	namespaces := namespacesOf(t, proc.cmd.Process.Pid)
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	if left := processesIn(namespaces); len(left) > 0 {
		t.Errorf("left after Close: %v", left)
	}
	select {
	case <-l.Done():
	default:
		t.Error("Done is open after Close")
	}
	if err := l.Err(); err != nil {
		t.Errorf("Err after Close = %v; want nil", err)
	}
	if _, err := l.Dial(t.Context(), "tcp", "127.0.0.1:1"); err == nil {
		t.Error("Dial works after Close")
	}
}

func TestStartFails(t *testing.T) {
	cases := []struct {
		name    string
		command []string
		want    string
	}{
		{"no such program", []string{"/nonexistent"}, "/nonexistent"},
		{"ends at once", []string{"/bin/sh", "-c", "echo out of order; exit 3"}, "exit status 3; it said: out of order"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, err := Start(t.Context(), Options{Command: c.command})
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Start = %v; want an error with %q", err, c.want)
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := Start(ctx, Options{Command: []string{"/bin/sleep", "1000"}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Start = %v; want a passed deadline", err)
		}
	})
}
