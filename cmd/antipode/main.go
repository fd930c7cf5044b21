// Command antipode measures throughput and round-trip time between cloud
// regions: it launches a machine in each, runs every wanted pair, tears
// everything down, and leaves a CSV and charts.
package main

import (
	"fmt"
	"os"

	"github.com/antipode-bench/antipode/lab"
)

// version is set by the Makefile.
var version = "devel"

func main() {
	// The lab's inner process is this binary again. It comes before the flags
	// are looked at: it is a child, not a user.
	if len(os.Args) > 1 && os.Args[1] == lab.InnerCommand {
		os.Exit(lab.InnerMain(os.Args[2:]))
	}
	err := newRoot().Execute()
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, "antipode:", err)
	}
	os.Exit(exitCode(err))
}
