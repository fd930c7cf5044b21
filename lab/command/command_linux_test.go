package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// That commands run is tested where there are places for them, in package lab.

// TestMainIsForNobody: it must not kill what it finds in a pid namespace that is not
// its own.
func TestMainIsForNobody(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no descriptors": {nil, "nobody else"},
		"not a number":   {[]string{"x"}, `descriptor "x"`},
	} {
		if code, err := run(c.args); code != ExitFailed || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d, %v; want %d, %q", name, code, err, ExitFailed, c.want)
		}
	}
}

func TestExitOf(t *testing.T) {
	dir := t.TempDir()
	_, noDir := exec.LookPath(filepath.Join(dir, "none", "there"))
	_, noName := exec.LookPath("no-such-program")
	_, folder := exec.LookPath(dir)
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"not on the path":    {noName, 127},
		"no such file":       {noDir, 127},
		"no interpreter":     {&fs.PathError{Op: "fork/exec", Path: "x", Err: syscall.ENOENT}, 127},
		"a folder":           {folder, 126},
		"no permission":      {fmt.Errorf("fork/exec: %w", syscall.EACCES), 126},
		"of another machine": {fmt.Errorf("fork/exec: %w", syscall.ENOEXEC), 126},
	} {
		if got := exitOf(c.err); got != c.want {
			t.Errorf("%s (%v): %d, want %d", name, c.err, got, c.want)
		}
	}
}

// TestReplaced: a command finds the host's names and the lab's, and asks no name
// server.
func TestReplaced(t *testing.T) {
	s := Spec{Hosts: "198.18.1.1 a-b.lab a-b\n"}
	want := map[string]string{
		"/etc/hosts":       "127.0.0.1 localhost\n# antipode lab\n198.18.1.1 a-b.lab a-b\n",
		"/etc/resolv.conf": "# there is no DNS in the lab: /etc/hosts has its names\n",
	}
	for _, r := range replaced {
		if got := r.text(s, "127.0.0.1 localhost"); got != want[r.path] {
			t.Errorf("%s: %q, want %q", r.path, got, want[r.path])
		}
	}
	if len(replaced) != len(want) {
		t.Errorf("%d files are replaced, want %d", len(replaced), len(want))
	}
}

// TestOwnNamespace: who is at home need not enter a user namespace.
func TestOwnNamespace(t *testing.T) {
	own, err := os.Open("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	owner, err := ownerOf(own)
	if owner != nil || err != nil && !errors.Is(err, syscall.EPERM) { // EPERM: it belongs to whoever made this container
		t.Errorf("ownerOf = %v, %v; want none", owner, err)
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := ownerOf(file); err == nil {
		t.Error("ownerOf took a file for a namespace")
	}
}
