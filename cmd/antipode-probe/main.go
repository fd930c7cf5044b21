//go:build linux

// Command antipode-probe measures between two machines: the agent a run pushes
// to each, which ends when its standard input ends or has been silent for too
// long, and a server and a client to be used by hand.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
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
		{"serve", "let others measure against this machine", runServe},
		{"test", "measure from this machine to one that serves", runTest},
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
		return exitCode(c.name, c.run(args[1:]), errOut)
	}
	fmt.Fprintf(errOut, "antipode-probe: unknown command %q\n", args[0])
	usage(errOut)
	return 2
}

func exitCode(command string, err error, errOut io.Writer) int {
	var misuse *usageError
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return 0
	case errors.As(err, &misuse):
		fmt.Fprintf(errOut, "antipode-probe %s: %v (see antipode-probe %s --help)\n", command, err, command)
		return 2
	}
	fmt.Fprintf(errOut, "antipode-probe %s: %v\n", command, err)
	return 1
}

// usageError is a command line that can't be understood.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func misused(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// newFlags are those of a command that is called as its usage says.
func newFlags(command, usage string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {
		fmt.Printf("usage: antipode-probe %s\n\n%s", usage, flags.FlagUsages())
	}
	return flags
}

// parse returns the arguments that are no flags.
func parse(flags *pflag.FlagSet, args []string) ([]string, error) {
	err := flags.Parse(args)
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		err = &usageError{err}
	}
	return flags.Args(), err
}

// surplus is err, or that there are arguments where none are wanted.
func surplus(rest []string, err error) error {
	if err == nil && len(rest) > 0 {
		err = misused("unknown argument %q", rest[0])
	}
	return err
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: antipode-probe COMMAND")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.does)
	}
}

func runVersion(args []string) error {
	if rest, err := parse(newFlags("version", "version"), args); err != nil || len(rest) > 0 {
		return surplus(rest, err)
	}
	_, err := fmt.Println(version)
	return err
}
