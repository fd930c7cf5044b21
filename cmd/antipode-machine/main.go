//go:build linux

// Command antipode-machine is the first process of a lab machine. The lab's
// hypervisor starts it; package machine says what it does. By another name it is
// the first process of a user's own command in the lab: see package command.
package main

import (
	"os"

	"github.com/antipode-bench/antipode/lab/command"
	"github.com/antipode-bench/antipode/lab/machine"
)

func main() {
	if os.Args[0] == command.ProgramName {
		os.Exit(command.Main(os.Args[1:]))
	}
	os.Exit(machine.Main(os.Args))
}
