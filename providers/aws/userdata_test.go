package aws

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The machine ends even if shutdown does nothing, as when it finds no bus, and
// at the same time however often it boots.
func TestSelfDestruct(t *testing.T) {
	const expires = 1_800_000_000
	for name, tt := range map[string]struct {
		now  int
		want []string // sorted: some run beside each other
	}{
		"first boot": {expires - 95, []string{"poweroff -ff", "shutdown -P +2", "shutdown -P now", "sleep 60", "sleep 95"}},
		"reboot":     {expires - 7, []string{"poweroff -ff", "shutdown -P +1", "shutdown -P now", "sleep 60", "sleep 7"}},
		"overdue":    {expires + 3600, []string{"poweroff -ff", "shutdown -P +0", "shutdown -P now", "sleep 0", "sleep 60"}},
	} {
		t.Run(name, func(t *testing.T) {
			script := fmt.Sprintf("date() { echo %d; }; "+selfDestruct, tt.now, expires)
			got := runWithFakes(t, script, "shutdown", "sleep", "poweroff")
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("the machine ran %q, want %q", got, tt.want)
			}
		})
	}
}

// TestCloudInit has Debian's cloud-init check the very document that is sent.
func TestCloudInit(t *testing.T) {
	needCloudInit(t)
	spec := testSpec(t, ireland)
	data := userData(spec.Run.Expires, spec.HostKeyPEM, spec.HostKey)
	for name, tt := range map[string]struct {
		data  string
		valid bool
	}{
		"as it is":     {data, true},
		"not a list":   {strings.Replace(data, "bootcmd:\n  - |\n", "bootcmd: |\n", 1), false}, // or it would let anything pass
		"unknown type": {strings.Replace(data, "[ed25519]", "[ed25520]", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "user-data")
			if err := os.WriteFile(file, []byte(tt.data), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), "cloud-init", "schema", "--config-file", file).CombinedOutput()
			if (err == nil) != tt.valid || tt.valid && strings.Contains(strings.ToLower(string(out)), "deprecat") {
				t.Errorf("cloud-init schema: %v\n%s\nof\n%s", err, out, tt.data)
			}
		})
	}
	t.Run("bootcmd runs at every boot", func(t *testing.T) {
		ask := "from cloudinit.config import cc_bootcmd; print(cc_bootcmd.meta['frequency'])"
		out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", ask).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != "always" {
			t.Errorf("frequency %s, %v; want always", got, err)
		}
	})
}

func needCloudInit(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("cloud-init")
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("needs Debian's cloud-init: %v", err)
	default:
		t.Skipf("needs Debian's cloud-init: %v", err)
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
