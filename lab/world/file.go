package world

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/antipode-bench/antipode/strictyaml"
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
	p := parser{File: strictyaml.File{Name: name}}
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
			p.Errorf(key.Line, "unknown key %q", key.Value)
		}
	}
	p.check(w)
	if err := p.Err(); err != nil {
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

// parser is a world file being read.
type parser struct {
	strictyaml.File
	lines map[any]int // of what was loaded
}

// sections yields the top-level keys with their values, in the file's order.
func (p *parser) sections(data []byte) iter.Seq2[*yaml.Node, *yaml.Node] {
	root := p.root(data)
	seen := make(map[string]bool)
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(root.Content); i += 2 {
			key := root.Content[i]
			if seen[key.Value] {
				p.Errorf(key.Line, "key %q is there twice", key.Value)
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
	n, ok := p.Root(data)
	if ok && n.Kind != yaml.MappingNode {
		p.Errorf(n.Line, "a world is a mapping of controller, derive, regions, machine_types and pairs")
		ok = false
	}
	if !ok {
		return &yaml.Node{}
	}
	return n
}

// load fills to, a pointer, and remembers its line for check.
func (p *parser) load(n *yaml.Node, to any) {
	p.Load(n, to)
	if p.lines == nil {
		p.lines = make(map[any]int)
	}
	p.lines[to] = n.Line
}

func loadList[T any](p *parser, key, n *yaml.Node) []T {
	if n.Kind != yaml.SequenceNode {
		p.Errorf(n.Line, "%s must be a list", key.Value)
		return nil
	}
	list := make([]T, len(n.Content))
	for i, item := range n.Content {
		p.load(item, &list[i])
	}
	return list
}
