package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a file of a sweep's flags to fill in",
		Long: `Init writes every flag of a sweep that says what it is, with what it means and what it is
otherwise, as comments into a YAML file, sweep.yaml if no other is named. Take out the # of
what you want to set, and give the file to "antipode plan --config" and "antipode sweep
--config". Flags of the command line win over those of the file. A file that is there is
never overwritten.`,
		Example: `  antipode init
  antipode plan --config sweep.yaml`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := configFile
			if len(args) > 0 {
				file = args[0]
			}
			if err := writeNew(file, configTemplate()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is written: antipode plan --config %s\n", file, file)
			return nil
		},
	}
}

// writeNew never overwrites.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usageError("%s is there already: name another file, or remove it", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// begun is what the template sets, so that it is a sweep, and a small one.
const begun = "max-regions"

// configTemplate has all flags with their meaning, as comments.
func configTemplate() []byte {
	cmd := &cobra.Command{Use: "sweep"}
	defaultSweepFlags().register(cmd)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Flags of a sweep, for: antipode plan --config FILE, antipode sweep --config FILE\n"+
		"# Take out the # of what you want to set. Several values are a list: [aws, gcp]. The command line wins.\n")
	heading := ""
	for _, f := range configurable(cmd.Flags()) {
		if g := f.Annotations[groupKey]; len(g) > 0 && g[0] != heading {
			heading = g[0]
			fmt.Fprintf(&b, "\n## %s\n", heading)
		}
		_, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&b, "\n# %s\n", usage)
		if f.Name == begun {
			fmt.Fprintf(&b, "%s: 6\n", f.Name)
			continue
		}
		fmt.Fprintf(&b, "# %s: %s\n", f.Name, example(f))
	}
	return b.Bytes()
}

// example is the default, as YAML.
func example(f *pflag.Flag) string {
	v := strings.TrimSuffix(strings.TrimPrefix(f.DefValue, "["), "]")
	switch {
	case f.NoOptDefVal != "" && v == "":
		return "true"
	case v == "" && many(f):
		return "[]"
	case v == "":
		return `""`
	}
	return v
}
