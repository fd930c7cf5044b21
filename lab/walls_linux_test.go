package lab

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWalls looks at the inner process from outside.
func TestWalls(t *testing.T) {
	l := open(t, Options{Rough: true})
	pid := l.control.(*client).proc.cmd.Process.Pid
	proc := fmt.Sprintf("/proc/%d", pid)

	t.Run("host mounts are read-only", func(t *testing.T) { wantReadOnly(t, proc+"/mountinfo") })
	t.Run("no disks", func(t *testing.T) {
		entries, err := os.ReadDir(proc + "/root/dev")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			if mode := info.Mode(); mode&os.ModeDevice != 0 && mode&os.ModeCharDevice == 0 {
				t.Errorf("block device %s", e.Name())
			}
		}
	})
	t.Run("no foreign sockets", func(t *testing.T) {
		for _, dir := range []string{"/run", "/tmp"} {
			entries, err := os.ReadDir(proc + "/root" + dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Name() != "antipode-machine" {
					t.Errorf("%s has %s", dir, e.Name())
				}
			}
		}
	})
	t.Run("out of Ctrl-C's reach", func(t *testing.T) {
		if session, err := unix.Getsid(pid); err != nil || session != pid {
			t.Errorf("session %d, %v; want one of its own, %d", session, err, pid)
		}
	})
	t.Run("no secrets", func(t *testing.T) {
		environment, err := os.ReadFile(proc + "/environ")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range strings.Split(strings.Trim(string(environment), "\x00"), "\x00") {
			if !strings.HasPrefix(v, "PATH=") {
				t.Errorf("it inherited %s", v)
			}
		}
	})
}

// wantReadOnly passes over what is not the host's.
func wantReadOnly(t *testing.T, mountinfo string) {
	t.Helper()
	data, err := os.ReadFile(mountinfo)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		before, after, _ := strings.Cut(line, " - ")
		point, options := strings.Fields(before)[4], strings.Split(strings.Fields(before)[5], ",")
		kind := strings.Fields(after)[0]
		own := slices.Contains([]string{"/tmp", "/run", "/dev", "/dev/pts", "/proc"}, point) && kind != "devtmpfs"
		if !own && !slices.Contains(options, "ro") {
			t.Errorf("writable: %s", line)
		}
		if strings.Contains(before, "shared:") || strings.Contains(before, "master:") {
			t.Errorf("propagates: %s", line)
		}
	}
}
