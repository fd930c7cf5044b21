//go:build linux

// Command antipode-probe measures between two machines: the agent a run pushes
// to each. It ends when its standard input ends, or has been silent for too long.
package main

import (
	"fmt"
	"io"
	"os"
)

// version is set by the linker: -ldflags "-X main.version=...".
var version = "dev"

// command is one sub-command. run gets the arguments after its name.
type command struct {
	name, does string
	run        func(args []string) error
}

func commands() []command {
	return []command{
		{"agent", "answer a controller on standard input and output", runAgent},
		{"version", "print the version", runVersion},
	}
}

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run returns the exit code: 0 ok, 1 failed, 2 wrong usage.
func run(args []string, errOut io.Writer) int {
	if len(args) == 0 {
		usage(errOut)
		return 2
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		if err := c.run(args[1:]); err != nil {
			fmt.Fprintf(errOut, "antipode-probe %s: %v\n", c.name, err)
			return 1
		}
		return 0
	}
	fmt.Fprintf(errOut, "antipode-probe: unknown command %q\n", args[0])
	usage(errOut)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: antipode-probe COMMAND")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.does)
	}
}

func runVersion([]string) error {
	_, err := fmt.Println(version)
	return err
}
