package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// machineBinary is the first process of a machine.
var machineBinary []byte

// TestMain lets this test program be what it starts: the inner, or a controller
// that a test kills.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case InnerCommand:
			os.Exit(InnerMain(os.Args[2:]))
		case controllerCommand:
			os.Exit(controllerMain(os.Args[2:]))
		case limitedCommand:
			os.Exit(limitedMain())
		}
	}
	var err error
	if machineBinary, err = buildMachine(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func buildMachine() ([]byte, error) {
	dir, err := os.MkdirTemp("", "lab-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "machine")
	build := exec.Command("go", "build", "-o", path, "github.com/antipode-bench/antipode/cmd/antipode-machine")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build machine: %w\n%s", err, out)
	}
	return os.ReadFile(path)
}
