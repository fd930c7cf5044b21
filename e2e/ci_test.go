package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgain has .ci/again run a go that says what it is told to: failures that a
// busy computer may cause are given one more chance, and no others.
func TestAgain(t *testing.T) {
	const failed = "--- FAIL: TestA (1.0s)\n    --- FAIL: TestA/sub (1.0s)\nFAIL\nFAIL\tm/probe\t3.0s\nok  \tm/lab\t1.0s\nFAIL\n"
	four := ""
	for _, name := range []string{"TestA", "TestB", "TestC", "TestD"} {
		four += "--- FAIL: " + name + " (1.0s)\n"
	}
	const again, only = "run ^(TestA)$ m/probe", "PASSED ONLY THE SECOND TIME: m/probe TestA"
	for name, c := range map[string]struct {
		first, second string // output; empty: none, and success
		code          int
		calls         int
		says          string
	}{
		"all well":            {"", "", 0, 1, ""},
		"fails once":          {failed, "", 0, 2, only},
		"fails twice":         {failed, failed, 1, 2, again},
		"data race":           {"WARNING: DATA RACE\n" + failed, "", 1, 1, ""},
		"panic":               {"panic: oh\n" + failed, "", 1, 1, ""},
		"does not build":      {"FAIL\tm/probe [build failed]\nFAIL\n", "", 1, 1, ""},
		"leaks":               {"goleak: Errors\nFAIL\tm/probe\t3.0s\nFAIL\n", "", 1, 1, ""},
		"leaks, and one more": {failed + "goleak: Errors\nFAIL\tm/lab\t3.0s\n", "", 1, 1, ""},
		"too many":            {four + "FAIL\nFAIL\tm/probe\t3.0s\nFAIL\n", "", 1, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, text := range []string{c.first, c.second} {
				write(t, filepath.Join(dir, fmt.Sprint(i)), text)
			}
			write(t, filepath.Join(dir, "go"), `#!/bin/sh
cd `+dir+`
n=$(cat calls 2>/dev/null | wc -l)
echo "run $*" >>calls; echo "run $*"
cat $n; [ ! -s $n ]
`)
			if err := os.Chmod(filepath.Join(dir, "go"), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("../.ci/again", filepath.Join(dir, "go"), "test", "-p", "1", "./lab", "./probe")
			out, _ := cmd.CombinedOutput()
			calls := strings.Count(readFile(t, dir, "calls"), "\n")
			if code := cmd.ProcessState.ExitCode(); code != c.code || calls != c.calls || !strings.Contains(strings.ReplaceAll(string(out), "test -p 1 -count 1 -", ""), c.says) {
				t.Errorf("exit code %d after %d calls, want %d after %d and %q:\n%s", code, calls, c.code, c.calls, c.says, out)
			}
		})
	}
}
