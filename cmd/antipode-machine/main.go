//go:build linux

// Command antipode-machine is the first process of a lab machine. The lab's
// hypervisor starts it; package machine says what it does.
package main

import (
	"os"

	"github.com/antipode-bench/antipode/lab/machine"
)

func main() { os.Exit(machine.Main(os.Args)) }
