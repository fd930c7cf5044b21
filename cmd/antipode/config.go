package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode/strictyaml"
)

// configFile is what `antipode init` writes.
const configFile = "sweep.yaml"

// unconfigured are flags of a sweep that say what to do now, rather than what the
// sweep is.
var unconfigured = []string{"config", "yes", "verbose", "help", "json"}

// configurable are the flags whose names are keys of a sweep.yaml, in their order.
func configurable(flags *pflag.FlagSet) (list []*pflag.Flag) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(unconfigured, f.Name) {
			list = append(list, f)
		}
	})
	return list
}

// registerConfig makes a command take the flags of a sweep from a file too.
func registerConfig(cmd *cobra.Command) {
	cmd.Flags().String("config", "", "take flags from this YAML `FILE` (antipode init writes one); those of the command line win")
}

// readConfig sets the flags that the file of --config has and the command line
// lacks. Whatever is wrong with the file is said at once, with its lines.
func readConfig(flags *pflag.FlagSet) error {
	config := flags.Lookup("config")
	if config == nil || !config.Changed {
		return nil
	}
	data, err := os.ReadFile(config.Value.String())
	if err != nil {
		return usageError("--config: %w", err)
	}
	c := configReader{File: strictyaml.File{Name: config.Value.String()}, flags: flags}
	c.read(data)
	if err := c.Err(); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

type configReader struct {
	strictyaml.File
	flags *pflag.FlagSet
}

func (c *configReader) read(data []byte) {
	root, ok := c.Root(data)
	if !ok || root.Kind == 0 || root.Kind == yaml.DocumentNode {
		return // broken, which is noted, or nothing but comments
	}
	if root.Kind != yaml.MappingNode {
		c.Errorf(root.Line, "the file must be a mapping, of flags of a sweep without their dashes, for example \"max-regions: 6\"")
		return
	}
	var known []string
	for _, f := range configurable(c.flags) {
		known = append(known, f.Name)
	}
	if _, ok := c.Keys(root, "the file", nil, known); !ok {
		return
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		c.take(root.Content[i].Value, root.Content[i+1])
	}
}

// take gives a flag its values. A list is what the command line separates by
// commas, or repeats.
func (c *configReader) take(name string, n *yaml.Node) {
	f := c.flags.Lookup(name)
	values, ok := c.values(name, n)
	if !ok || f.Changed {
		return // the command line wins, but the file must be right
	}
	for _, v := range values {
		if err := f.Value.Set(v); err != nil {
			c.Errorf(n.Line, "%s: %q: %w", name, v, err)
			return
		}
	}
	f.Changed = true
}

func (c *configReader) values(name string, n *yaml.Node) (values []string, ok bool) {
	f := c.flags.Lookup(name)
	switch {
	case n.Tag == "!!bool" && n.Value == "true" && f.NoOptDefVal != "":
		values = []string{f.NoOptDefVal} // as the flag alone
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null" && n.Value != "":
		values = []string{n.Value}
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0 && many(f):
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode || item.Value == "" {
				c.Errorf(item.Line, "%s: an item of the list is no plain value", name)
				return nil, false
			}
			values = append(values, item.Value)
		}
	case many(f):
		c.Errorf(n.Line, "%s: want a value or a list of values", name)
		return nil, false
	default:
		c.Errorf(n.Line, "%s: want one value", name)
		return nil, false
	}
	return values, true
}

// many says whether a flag takes several values.
func many(f *pflag.Flag) bool {
	_, slice := f.Value.(pflag.SliceValue)
	return slice || strings.Contains(f.Usage, "=") // KEY=VALUE, again and again
}
