package world

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

const header = `# The lab's internet: who is where, and what the ways between the places are like.
# Rates are IP-level bits per second, headers included; 0 is no limit. Delays are one way.
# What "pairs" does not list is derived from the great-circle distance.
`

// Load reads a world file strictly; see Parse.
func Load(path string) (*World, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load world: %w", err)
	}
	return Parse(path, data)
}

// Parse reads the text of a world file. Unknown keys, repeated regions and
// pairs and values out of range are errors of the form "name:line: what is
// wrong", one a line, all of them at once.
func Parse(name string, data []byte) (*World, error) {
	p := parser{name: name}
	w := &World{}
	for key, n := range p.sections(data) {
		switch key.Value {
		case "controller":
			p.load(n, &w.Controller)
		case "derive":
			p.load(n, &w.Derive)
		case "regions":
			w.Regions = loadList[Region](&p, key, n)
		case "machine_types":
			w.MachineTypes = loadList[MachineType](&p, key, n)
		case "pairs":
			w.Pairs = loadList[Pair](&p, key, n)
		default:
			p.errorf(key.Line, "unknown key %q", key.Value)
		}
	}
	p.check(w)
	if err := errors.Join(p.errs...); err != nil {
		return nil, err
	}
	return w, nil
}

// Marshal is the world as a file, one region, type or pair a line. Parse undoes it.
func (w *World) Marshal() ([]byte, error) {
	var n yaml.Node
	if err := n.Dump(w); err != nil {
		return nil, fmt.Errorf("marshal world: %w", err)
	}
	plainNumbers(&n)
	for _, section := range n.Content {
		for _, item := range section.Content {
			if section.Kind == yaml.SequenceNode {
				item.Style = yaml.FlowStyle
			}
		}
	}
	body, err := yaml.Dump(&n, yaml.WithLineWidth(-1))
	if err != nil {
		return nil, fmt.Errorf("marshal world: %w", err)
	}
	return slices.Concat([]byte(header), bytes.TrimLeft(body, "\n")), nil
}

// plainNumbers writes 6.8e+07 as 68000000, everywhere below n.
func plainNumbers(n *yaml.Node) {
	if v, err := strconv.ParseFloat(n.Value, 64); n.ShortTag() == "!!float" && err == nil {
		n.Value = strconv.FormatFloat(v, 'f', -1, 64)
	}
	for _, child := range n.Content {
		plainNumbers(child)
	}
}

// parser collects what is wrong with a file, and where.
type parser struct {
	name  string
	lines map[any]int // of what was loaded
	errs  []error
}

func (p *parser) errorf(line int, format string, args ...any) {
	at := p.name
	if line > 0 {
		at = fmt.Sprintf("%s:%d", p.name, line)
	}
	p.errs = append(p.errs, fmt.Errorf("%s: %w", at, fmt.Errorf(format, args...)))
}

// sections yields the top-level keys with their values, in the file's order.
func (p *parser) sections(data []byte) iter.Seq2[*yaml.Node, *yaml.Node] {
	root := p.root(data)
	seen := make(map[string]bool)
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(root.Content); i += 2 {
			key := root.Content[i]
			if seen[key.Value] {
				p.errorf(key.Line, "key %q is there twice", key.Value)
			}
			seen[key.Value] = true
			if !yield(key, root.Content[i+1]) {
				return
			}
		}
	}
}

// root is the file's mapping; an empty one, and an error, when there is none.
func (p *parser) root(data []byte) *yaml.Node {
	var root yaml.Node
	if err := yaml.Load(data, &root); err != nil {
		p.yamlError(0, err)
		return &yaml.Node{}
	}
	n := &root
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	if n.Kind != yaml.MappingNode {
		p.errorf(n.Line, "a world is a mapping of controller, derive, regions, machine_types and pairs")
		return &yaml.Node{}
	}
	return n
}

// load fills to, a pointer, and remembers its line for check.
func (p *parser) load(n *yaml.Node, to any) {
	if err := n.Load(to, yaml.WithKnownFields()); err != nil {
		p.yamlError(n.Line, err)
	}
	if p.lines == nil {
		p.lines = make(map[any]int)
	}
	p.lines[to] = n.Line
}

func loadList[T any](p *parser, key, n *yaml.Node) []T {
	if n.Kind != yaml.SequenceNode {
		p.errorf(n.Line, "%s must be a list", key.Value)
		return nil
	}
	list := make([]T, len(n.Content))
	for i, item := range n.Content {
		p.load(item, &list[i])
	}
	return list
}

// yamlError records an error of the YAML library with the line it names.
func (p *parser) yamlError(line int, err error) {
	var several *yaml.LoadErrors
	if errors.As(err, &several) {
		for _, e := range several.Errors {
			p.yamlError(line, e)
		}
		return
	}
	var one *yaml.LoadError
	if !errors.As(err, &one) {
		p.errorf(line, "%w", err)
		return
	}
	if one.Mark.Line > 0 {
		line = one.Mark.Line
	}
	p.errorf(line, "%s", one.Message)
}
