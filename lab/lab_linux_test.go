package lab

import (
	"os"
	"testing"
)

// TestMain lets this test program be what it starts: the inner, or a controller
// that a test kills.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case InnerCommand:
			os.Exit(InnerMain(os.Args[2:]))
		case controllerCommand:
			os.Exit(controllerMain(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}
