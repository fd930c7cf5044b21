//go:build linux

package machine

import (
	"os"
	"path/filepath"
	"testing"
)

// asMachine in the environment makes the test binary a machine.
const asMachine = "ANTIPODE_TEST_AS_MACHINE"

func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	for _, tool := range toolNames {
		if name == tool {
			os.Exit(Main(os.Args))
		}
	}
	if os.Getenv(asMachine) != "" {
		os.Unsetenv(asMachine)
		os.Exit(Main(os.Args))
	}
	os.Exit(m.Run())
}
