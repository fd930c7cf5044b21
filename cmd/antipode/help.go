package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is where the help's lines end, in characters.
const helpWidth = 98

// groupKey annotates a flag with the heading that the help puts it under.
const groupKey = "antipode-group"

// usage is the part of the help after the description: how to call the command,
// its sub-commands, examples, and the flags by groups.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "Usage:\n  %s COMMAND\n\nCommands:\n", cmd.CommandPath())
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-10s %s\n", c.Name(), c.Short)
			}
		}
	} else {
		fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	flagUsages(w, cmd.LocalFlags())
	return nil
}

// flagUsages prints each group under its heading, in the order of the flags.
func flagUsages(w io.Writer, all *pflag.FlagSet) {
	var headings []string
	groups := map[string]*pflag.FlagSet{}
	all.VisitAll(func(f *pflag.Flag) {
		heading := "Flags"
		if g := f.Annotations[groupKey]; len(g) > 0 {
			heading = g[0]
		}
		if groups[heading] == nil {
			headings = append(headings, heading)
			groups[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
			groups[heading].SortFlags = false
		}
		groups[heading].AddFlag(f)
	})
	for _, heading := range headings {
		text := groups[heading].FlagUsagesWrapped(helpWidth)
		// What a bare --lab stands for is nobody's business; that it may have a name is.
		text = strings.Replace(text, ` string[="`+ownLab+`"]`, "[=NAME]      ", 1)
		fmt.Fprintf(w, "\n%s:\n%s", heading, text)
	}
}

// group puts the flags that define defines under a heading.
func group(flags *pflag.FlagSet, heading string, define func()) {
	before := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	define()
	flags.VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] {
			f.Annotations = map[string][]string{groupKey: {heading}}
		}
	})
}
