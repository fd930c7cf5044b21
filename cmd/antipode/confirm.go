package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/antipode-bench/antipode/orchestrator/plan"
	"github.com/antipode-bench/antipode/providers/hosts"
	"github.com/antipode-bench/antipode/units"
)

// confirm says what is going to happen and, where it costs money, asks.
func (p planned) confirm(stderr io.Writer) error {
	forecast := p.forecast()
	fmt.Fprint(stderr, p.describe()+forecast.describe(p.flags.labName != ""))
	if err := p.afford(forecast); err != nil {
		return err
	}
	if p.flags.yes || p.flags.labName != "" || !creates(p.regions) {
		return nil
	}
	return ask(stderr, "Go on?", "to create machines", "nothing was created")
}

// ask gets a yes from the terminal. The words tell what --yes is for, and what
// a no means.
func ask(stderr io.Writer, question, purpose, refused string) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return usageError("nobody is there to confirm: add --yes %s without a question", purpose)
	}
	fmt.Fprint(stderr, question+" [y/N] ")
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &exitError{exitRefused, errors.New(refused)}
}

// machine is what the clouds are asked for.
func (p planned) machine() string {
	if p.flags.spot {
		return "spot machine"
	}
	return "machine"
}

func (p planned) describe() string {
	var b strings.Builder
	f := p.flags
	fmt.Fprintf(&b, "%s in %s, about %v to measure\n", plural(len(p.pairs), "directed pair"),
		plural(len(p.regions), "region"), p.expected().Round(time.Second))
	if n := len(p.pairs) - len(p.measurable()); n > 0 {
		fmt.Fprintf(&b, "  %s without a %s path: skipped\n", plural(n, "pair"), f.path)
	}
	machines := map[string]int{}
	for _, r := range plan.RegionsOf(p.measurable()) {
		machines[r.Cloud]++
	}
	for _, cloud := range slices.Sorted(maps.Keys(machines)) {
		n := machines[cloud]
		if cloud == hosts.Cloud {
			fmt.Fprintf(&b, "  %s: %s you already have\n", cloud, plural(n, "machine"))
			continue
		}
		fmt.Fprintf(&b, "  %s: %s of type %s\n", cloud, plural(n, p.machine()), strings.Join(f.machines.preferences[cloud], ", else "))
	}
	switch {
	case f.labName != "":
		fmt.Fprintf(&b, "  on the lab: no cloud has a part in it\n")
	case f.stop.bytes > 0:
		fmt.Fprintf(&b, "  at most %s between regions; %s\n", units.Bytes(float64(f.stop.bytes)*float64(len(p.pairs)*f.repeat.rounds())), p.charges())
	case f.stop.by == stopAdaptive:
		fmt.Fprintf(&b, "  every pair sends as fast as it can until its rate is known, %v at most; %s\n", f.stop.duration, p.charges())
		fmt.Fprintf(&b, "  (a pair at 1 Gbit/s sends %s at most; --bytes sets a limit)\n", units.Bytes(f.stop.duration.Seconds()*1e9/8))
	default:
		fmt.Fprintf(&b, "  every pair sends as fast as it can for %v; %s\n", f.stop.duration, p.charges())
		fmt.Fprintf(&b, "  (a pair at 1 Gbit/s sends %s; --bytes sets a limit)\n", units.Bytes(f.stop.duration.Seconds()*1e9/8))
	}
	return b.String()
}

// charges says who sends a bill.
func (p planned) charges() string {
	if !creates(p.regions) {
		return "nothing is created"
	}
	return "your clouds charge for machines and for data sent"
}
