package userdata

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// command is one entry of bootcmd or runcmd: a line for the shell, or a list
// of arguments.
type command struct {
	line string
	args []string
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (c *command) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Decode(&c.args)
	}
	return n.Decode(&c.line)
}

func (c command) shell() string {
	if c.args == nil {
		return c.line
	}
	words := make([]string, len(c.args))
	for i, a := range c.args {
		words[i] = quote(a)
	}
	return strings.Join(words, " ")
}

// Script returns what runs a script that begins with "#!", for the machines
// of clouds whose agent takes a bare script.
func Script(text string) Boot { return script(text) }

// interpreters are those that take a script as an argument of -c, so that no
// file is needed.
var interpreters = []string{"sh", "bash", "dash", "python3"}

func script(text string) Boot {
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	if !strings.HasPrefix(first, "#!") || len(words) == 0 {
		return Boot{Warnings: []string{"the script does not begin with #! and an interpreter"}}
	}
	name := path.Base(words[0])
	if name == "env" && len(words) > 1 {
		name = path.Base(words[1])
	}
	if !slices.Contains(interpreters, name) {
		return Boot{Warnings: []string{fmt.Sprintf("the lab does not know the interpreter %q", name)}}
	}
	for i, w := range words {
		words[i] = quote(w)
	}
	return Boot{Commands: []string{behind(strings.Join(words, " ") + " -c " + quote(text))}}
}

// behind runs a command beside the boot: a real machine runs scripts when
// SSH is up already, and a script may take as long as it likes.
func behind(cmd string) string { return cmd + " </dev/null >/dev/null 2>&1 &" }

// quote makes one word of s for a POSIX shell.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
