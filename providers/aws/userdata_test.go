package aws

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The machine ends even if shutdown does nothing, as when it finds no bus.
func TestSelfDestruct(t *testing.T) {
	for name, tt := range map[string]struct {
		left time.Duration
		want []string
	}{
		"in time": {95 * time.Second, []string{"shutdown -P +2", "sleep 180", "poweroff -ff"}},
		"overdue": {-time.Hour, []string{"shutdown -P +0", "sleep 60", "poweroff -ff"}},
	} {
		t.Run(name, func(t *testing.T) {
			script := fmt.Sprintf(selfDestruct, time.Now().Add(tt.left).Unix())
			if got := runWithFakes(t, script, "shutdown", "sleep", "poweroff"); strings.Join(got, "; ") != strings.Join(tt.want, "; ") {
				t.Errorf("the machine ran %q, want %q", got, tt.want)
			}
		})
	}
}

// runWithFakes runs a shell script and returns the calls of tools, which do
// nothing, its background's too.
func runWithFakes(t *testing.T, script string, tools ...string) []string {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range tools {
		fake := "#!/bin/sh\necho " + tool + " \"$@\" >&3\n"
		if err := os.WriteFile(filepath.Join(dir, tool), []byte(fake), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	calls, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	cmd.ExtraFiles = []*os.File{w} // descriptor 3
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	text, err := io.ReadAll(calls) // ends with the last process that holds w
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
